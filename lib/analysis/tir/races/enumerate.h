// Answers a query by trying all values of its variables.
#pragma once

#include <cstddef>

#include "analysis/tir/races/query.h"

namespace iropt::races {

// Tries the values of the variables of the two sides, each side on its own: the elements of the first one are kept in a
// table. Variables that both have in common need no values if they cancel out; those of few values are tried, too.
// Unknown if there are too many values, or if conditions that cannot be computed may exclude what was found.
// `budget`: how many more values may be tried; those that were are subtracted. O(values of a side).
Answer SolveByEnumeration(const Query& query, Workspace& workspace, size_t& budget);

// Tries small values of the sizes, too, so that kNone is not a proof: the answer is kFound or kUnknown.
Answer SolveForSmallSizes(const Query& query, Workspace& workspace, size_t& budget);

// Returns whether the element is another one for all other values of the variables of the side, as indices of fused and
// split loops are. The cost is that of arith::DetectIterMap.
bool IsInjective(const Side& side, Workspace& workspace);

}  // namespace iropt::races
