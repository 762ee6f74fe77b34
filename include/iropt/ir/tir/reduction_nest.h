// Reductions that run for no element. Their loops never reach the block that initializes the result, which is the
// identity of the reduction all the same: the sum over a dimension that turns out to be 0 is 0.
#pragma once

#include <optional>
#include <vector>

#include "iropt/ir/tir/stmt.h"

namespace iropt::tir {

// Loops without other statements down to a block with an initialization. None of them depends on another one.
struct ReductionNest {
  std::vector<const For*> loops;  // the first one is of the reduction
  const BlockRealize* realize;

  // Returns whether only axes of the reduction use the loop.
  bool IsReduction(const For& loop) const;
};

// Returns the nest that begins with the loop, if it is of the reduction, and the block runs for all iterations.
std::optional<ReductionNest> FindReductionNest(const For& loop);

}  // namespace iropt::tir
