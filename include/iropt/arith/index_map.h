// Inverses of index maps.
#pragma once

#include "iropt/ir/attr.h"
#include "iropt/ir/tir/expr.h"

namespace iropt::arith {

// The map from the positions that `map` makes for a tensor of these dimensions back to those of the tensor: the inverse
// that the map states, or one that is found if each result is a sum of digits of the positions in a mixed radix, such
// as i // 4, i % 4 or i * 4 + j, or if the results are an iterator map that takes each position once. Null for
// others. Positions that are padding become those beyond the tensor. O(size of the map).
const IndexMapAttr* InvertIndexMap(const IndexMapAttr& map, List<const PrimExpr*> dims);

}  // namespace iropt::arith
