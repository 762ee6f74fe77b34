// PrimFuncs that only copy a tensor to one of another shape.
#pragma once

#include <vector>

#include "iropt/ir/tir/stmt.h"

namespace iropt {

// Returns whether the function provably stores element i of its first buffer, in row-major order, as element i of its
// last one: one loop nest around one block that stores what it loads. It need not copy all elements. O(nodes), plus the
// simplification of the indices.
bool HasReshapePattern(const PrimFunc& function);

// For each parameter, true if it is matched to a buffer whose pointer the body uses. O(nodes).
std::vector<bool> UsedBufferParams(const PrimFunc& function);

}  // namespace iropt
