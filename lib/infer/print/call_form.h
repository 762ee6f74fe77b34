// The printed form of calls of intrinsics: T.exp(x), unless that reads as another node.
#pragma once

#include "iropt/ir/tir/expr.h"

namespace iropt {

inline bool IsConstantNumber(const PrimExpr* e) {
  return e->kind == NodeKind::kIntImm || e->kind == NodeKind::kFloatImm;
}

// Returns whether the function of the script named after the operator, called with the operands of `call` and with its
// dtype where the function takes one, makes this node again: functions such as T.fabs fold constants, those with a
// fixed result have its dtype, others bring their operands to one dtype. O(operands).
bool ReadsBackByName(const tir::Call& call);

}  // namespace iropt
