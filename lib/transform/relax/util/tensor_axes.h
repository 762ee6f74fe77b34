// Types of tensors, and permutations of their axes.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// The type of a tensor; null for other types.
inline const TensorType* TensorTypeOf(const Expr* expr) { return As<TensorType>(expr->type); }

// The axes of a permute_dims, none of which is negative; empty if the rank is not known, and for rank 0.
std::vector<int64_t> PermutationOf(const Call& permute_dims);

// The axes of a permute_dims that exchanges the last two of at least two axes and keeps the others.
inline std::vector<int64_t> ExchangeLastTwo(int rank) {
  std::vector<int64_t> axes;
  for (int i = 0; i < rank - 2; ++i) axes.push_back(i);
  axes.insert(axes.end(), {rank - 1, rank - 2});
  return axes;
}

}  // namespace iropt
