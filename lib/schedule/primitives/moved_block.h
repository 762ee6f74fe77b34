// What a block has to fulfil at the place that it is moved to, for compute_at and reverse_compute_at.
#pragma once

#include <vector>

#include "iropt/schedule/state.h"

namespace iropt::schedule {

// Returns whether a reduction axis of the block depends on the loop.
bool IsOfReduction(const tir::BlockRealize& realize, const tir::For& loop);

// Returns whether the reduction of each element begins with the first values of the reduction axes, and has each of
// them once: from the outermost loop of the reduction inwards, the axes are different digits of all loops. A loop
// outside of them that concerns no axis repeats all of it. The loops are all those around the block, the outermost
// first.
bool BeginsWithInit(State& state, const tir::BlockRealize& realize, const std::vector<const tir::For*>& loops);

// Refuses if loops from the given one inwards run the block for the same values of its axes again, with its
// initialization: that is to be done once, ahead of the loop.
Status CheckReducesOnce(State& state, const Ref* block, const Ref* loop);

// Refuses if a reduction would not begin with its first values at the new place of the block: there it is initialized.
// `new_loop` is the loop with the block in it.
Status CheckBeginsWithInit(State& state, const Ref* block, const Ref* loop, const tir::Stmt* new_loop);

// Refuses if a reduction that may be over nothing would not have its first values then at the new place of the block: a
// loop around it that may not run is of the reduction and of other axes. `new_scope` is the scope with the block there.
Status CheckBeginsWithoutElements(State& state, const Ref* block, const Ref* loop, const tir::Block* new_scope);

// Refuses if the loop is of a reduction of the producer, and the block under it cannot run before that is finished: it
// runs again after each part of it, for all that it computes under the loop, and what it writes at last counts.
// `new_loop` is the statement with the block in it.
Status CheckMayRunEarly(State& state, const Ref* block, const Ref* producer, const Ref* loop,
                        const std::vector<Ref*>& consumers, const tir::Stmt* new_loop);

}  // namespace iropt::schedule
