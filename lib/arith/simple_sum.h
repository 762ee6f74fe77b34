#pragma once

#include "iropt/arith/analyzer.h"

namespace iropt::arith {

// Returns whether the expression is a sum of distinct scaled variables, greater factors first, and a positive constant,
// which no rewriter changes. Most indices are. There are rules for x - 9, and for x * 9 + y * 9 where nothing is before
// it.
bool IsSimpleSum(const PrimExpr* e, const Analyzer& analyzer);

}  // namespace iropt::arith
