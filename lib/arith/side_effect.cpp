#include "iropt/arith/side_effect.h"

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

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
  const auto is_outside = [&](const tir::BufferLoad& load) {
    for (uint32_t i = 0; i < load.indices.size(); ++i) {
      const int64_t* size = i < load.buffer->shape.size() ? AsInt(load.buffer->shape[i]) : nullptr;
      const IntBound index = bounds.Bound(load.indices[i]);
      if (!size || index.min < 0 || index.max >= *size) return true;
    }
    return false;
  };
  // Shifts by negative numbers, or by the bits of the dtype or more, are undefined.
  const auto may_shift_too_far = [&](const tir::Call& shift) {
    const IntBound amount = bounds.Bound(shift.args[1]);
    return amount.min < 0 || amount.max >= shift.dtype.bits;
  };
  bool may_fail = false;
  tir::PostOrderVisit(expr, [&](const Node* node) {
    if (const auto* load = As<tir::BufferLoad>(node)) may_fail |= is_outside(*load);
    if (const auto* call = As<tir::Call>(node)) {
      const auto* op = As<Op>(call->op);
      may_fail |= !op || EffectOf(op) > CallEffect::kPure;
      may_fail |= (IsOp(call->op, op::kTirShiftLeft) || IsOp(call->op, op::kTirShiftRight)) && may_shift_too_far(*call);
    }
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
