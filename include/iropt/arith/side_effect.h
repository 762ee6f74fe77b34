// The effects of evaluating a scalar expression beside computing its value.
#pragma once

#include "iropt/ir/tir/expr.h"
#include "iropt/op/intrinsics.h"

namespace iropt::arith {

// The greatest effect of the calls and loads in an expression: kPure without any, kReadState for loads, that of the
// intrinsic for calls, kOpaque for calls of functions. O(nodes).
CallEffect SideEffect(const PrimExpr* expr);
inline bool IsPure(const PrimExpr* expr) { return SideEffect(expr) <= CallEffect::kPure; }

}  // namespace iropt::arith
