// Shapes of buffers that hold only the elements that loops access.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"

namespace iropt {

struct PromotedAccess {
  std::vector<const PrimExpr*> shape;
  std::vector<const PrimExpr*> indices;
};

// The parts of the indices that the iterators in `own` select, each dimension without gaps. For the elements
//
//   A[(i * 32 + t) * 4 // 128, (i * 32 + t) * 4 % 128 + v]     i: 0 to 3, v: 0 to 3
//
// and fixed t the shape is (4, 4), and the indices are i * 32 * 4 // 128 and v % 128. `all` are the iterators of the
// nest, of which `own` are some. Nothing if two different elements might get the same indices: if an index is not an
// iterator map, or if an iterator does not run through digits of it. O(size of the indices), times their depth.
//
// Source: TVM 0.18's rank promotion in src/tir/transforms/memhammer_intermediate_stage.cc. There, quotients of steps
// that do not divide the divisor share places.
std::optional<PromotedAccess> PromoteRank(std::span<const PrimExpr* const> indices, const arith::IterRanges& own,
                                          const arith::IterRanges& all, arith::Analyzer& analyzer);

}  // namespace iropt
