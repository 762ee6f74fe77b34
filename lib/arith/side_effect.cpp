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

}  // namespace iropt::arith
