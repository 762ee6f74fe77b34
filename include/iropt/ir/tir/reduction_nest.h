// Reductions that run for no element. Their loops never reach the block that initializes the result, which is the
// identity of the reduction all the same: the sum over a dimension that turns out to be 0 is 0.
#pragma once

#include <vector>

#include "iropt/ir/tir/stmt.h"

namespace iropt::tir {

// Loops down to a block with an initialization. None of them depends on another one.
struct ReductionNest {
  std::vector<const For*> loops;  // the first one is of the reduction
  const BlockRealize* realize = nullptr;
  // Those of the block that not only loops of the reduction decide. They are for the first iterations of these.
  std::vector<const PrimExpr*> conditions = {};
  std::vector<const IterVar*> outer_axes = {};  // of the reduction, which only loops around the nest decide

  // Returns whether only axes of the reduction use the loop.
  bool IsReduction(const For& loop) const;
  // The value that the block gives one of its axes.
  const PrimExpr* ValueOf(const IterVar* axis) const;
};

// Returns the nests that begin with the loop, if it is of the reduction: to each block under it that is not in another
// one, or only in such without axes, memory and conditions. If the loop runs for nothing, the block is to be
// initialized for the other loops of its nest, where the conditions hold and the outer axes have their least values.
// O(statements down to the blocks).
std::vector<ReductionNest> FindReductionNests(const For& loop);

}  // namespace iropt::tir
