// The pattern of a PrimFunc: how each element of its result depends on elements of its operands. Fusion decides by it
// which functions may become one.
#pragma once

#include <string_view>

#include "iropt/ir/tir/stmt.h"
#include "iropt/op/op.h"

namespace iropt {

// The pattern that the function has as its attribute op_pattern, opaque if it has none.
OpPattern AnnotatedOpPattern(const PrimFunc& function);

// The pattern, which is the greatest of those of its blocks, from their loads and stores: element by element; with axes
// missing in operands; one element from anywhere; a reduction over whole axes; another reduction. O(nodes).
OpPattern AnalyzeOpPattern(const PrimFunc& function);

}  // namespace iropt
