// The condition of a block without the loops around it.
#pragma once

#include <vector>

#include "iropt/schedule/state.h"

namespace iropt::schedule {

// Returns the condition of the block on its axes, in the axes and in the variables of `loop` and the loops around it,
// each part on its own. Parts that follow from the domains of the axes are left out, and so are those that only keep
// loops that no axis uses from running the block again. The block may be bound to the same axes by other loops below
// `loop` under these conditions. Refused if a part cannot be written so.
Result<std::vector<const PrimExpr*>> ConditionOfAxes(State& state, const Ref* block, const Ref* loop);

// Returns whether the loops around the block in its scope give these of its axes all values of their domains for which
// the condition, in the axes, holds; false if that is not known.
bool TakeAllValues(State& state, const Ref* block, const std::vector<const PrimExpr*>& axes, const PrimExpr* condition);

}  // namespace iropt::schedule
