// The effects of evaluating a scalar expression besides computing its value.
#pragma once

#include "iropt/arith/bounds.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/intrinsics.h"

namespace iropt::arith {

// The greatest effect of the calls and loads in an expression: kPure without any, kReadState for loads, that of the
// intrinsic for calls, kOpaque for calls of functions. O(nodes).
CallEffect SideEffect(const PrimExpr* expr);
inline bool IsPure(const PrimExpr* expr) { return SideEffect(expr) <= CallEffect::kPure; }
// Returns whether the evaluation may fail, so that it needs the conditions before it: loads may be out of range,
// divisors 0, shifts too far, and floats beyond the limits of the integers that they are converted to. O(nodes).
bool MayFail(const PrimExpr* expr, const BoundAnalyzer& bounds);

}  // namespace iropt::arith
