#include "iropt/arith/side_effect.h"

#include <algorithm>

#include "iropt/ir/tir/visitor.h"

namespace iropt::arith {

CallEffect SideEffect(const PrimExpr* expr) {
  CallEffect effect = CallEffect::kPure;
  if (tir::Var::ClassOf(expr->kind) || expr->kind == NodeKind::kIntImm) return effect;
  tir::PostOrderVisit(expr, [&](const Node* node) {
    if (Is<tir::BufferLoad>(node)) effect = std::max(effect, CallEffect::kReadState);
    if (const auto* call = As<tir::Call>(node)) {
      const auto* op = As<Op>(call->op);
      effect = std::max(effect, op ? EffectOf(op) : CallEffect::kOpaque);
    }
  });
  return effect;
}

bool MayFail(const PrimExpr* expr, const BoundAnalyzer& bounds) {
  bool may_fail = !IsPure(expr);
  tir::PostOrderVisit(expr, [&](const Node* node) {
    if (const auto* cast = As<tir::Cast>(node)) {
      may_fail |= cast->value->dtype.is_floating() && !cast->dtype.is_floating();
    } else if (node->kind >= NodeKind::kDiv && node->kind <= NodeKind::kFloorMod) {
      const auto* division = static_cast<const tir::BinaryExpr*>(node);
      const IntBound divisor = division->dtype.is_floating() ? IntBound{1, 1} : bounds.Bound(division->b);
      may_fail |= divisor.min <= 0 && divisor.max >= 0;
    }
  });
  return may_fail;
}

}  // namespace iropt::arith
