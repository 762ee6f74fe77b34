// Making loops around a block a block, for primitives that need it.
#pragma once

#include "iropt/arith/iter_map.h"
#include "iropt/schedule/state.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

// The loop with what is in it as the realization of one block, and the blocks in it that take over references.
struct Blockized {
  const tir::BlockRealize* realize = nullptr;
  BlockReuse reuse;
};
// There is one block under the loop, whose bindings can be divided into a part for the loops outside and one for those
// inside.
Result<Blockized> Blockize(State& state, const Ref* loop, bool preserve_unit_iters);

}  // namespace iropt::schedule
