// Shapes of tensors whose elements an index map moves.
#pragma once

#include <optional>
#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/ir/tir/expr.h"

namespace iropt {

// The extents of the indices that `map` makes of those of a tensor with these dimensions, one for each parameter.
// Lengths that do not divide evenly are padded, so that i % 4 has extent 4 whatever the length of i. Nothing if an
// index may be negative or its extent is not known. O(size of the map).
std::optional<std::vector<const PrimExpr*>> MapShape(const IndexMapAttr& map, List<const PrimExpr*> dims);

}  // namespace iropt
