// Expressions whose evaluation may fail.
#pragma once

#include "iropt/ir/tir/expr.h"

namespace iropt {

// Returns whether the expression loads, or calls what is not pure, so that evaluating it may fail where a condition
// around it does not hold. Of T.Select and T.if_then_else, only the condition counts. O(nodes).
bool IsUnsafeExpr(const PrimExpr* expr);

// Returns whether a T.Select by a scalar has an operand that may fail.
bool IsUnsafeSelect(const tir::Select& select);

}  // namespace iropt
