// Removing a block from its scope.
#pragma once

#include "iropt/schedule/state.h"

namespace iropt::schedule {

// The statements that remain after a block is removed: `source`, a block or loop, becomes `target`. Refused if the
// block is the only one of its scope.
struct RemovalPlan {
  const tir::Stmt* source;
  const tir::Stmt* target;
};
Result<RemovalPlan> PlanRemoval(State& state, const Ref* leaf);

}  // namespace iropt::schedule
