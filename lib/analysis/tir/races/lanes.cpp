#include "analysis/tir/races/lanes.h"

#include <vector>

#include "iropt/arith/side_effect.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::races {

namespace {

DataType Scalar(DataType dtype) { return DataType::Make(dtype.code, dtype.bits, 1); }

}  // namespace

const PrimExpr* Lanes::VisitDefault(const PrimExpr* expr) {
  if (expr->kind < NodeKind::kAdd || expr->kind > NodeKind::kOr) return nullptr;
  const auto* binary = static_cast<const tir::BinaryExpr*>(expr);
  const PrimExpr* a = VisitExpr(binary->a);
  const PrimExpr* b = a ? VisitExpr(binary->b) : nullptr;
  return b ? make_.Binary(expr->kind, a, b) : nullptr;
}

const tir::Var* Lanes::Number(const PrimExpr& vector) {
  if (!var_) {
    var_ = workspace_.NewPrimVar("lane", DataType::Int(32));
    count_ = make_.Cast(var_->dtype, make_.Lanes(vector.dtype));
  }
  return var_;
}

const PrimExpr* Lanes::VisitRamp(const tir::Ramp* ramp) {
  if (!ramp->base->dtype.is_scalar()) return nullptr;
  return make_.Add(ramp->base, make_.Mul(Number(*ramp), ramp->stride));
}

const PrimExpr* Lanes::VisitCast(const tir::Cast* cast) {
  const PrimExpr* value = VisitExpr(cast->value);
  return value ? make_.Cast(Scalar(cast->dtype), value) : nullptr;
}

const PrimExpr* Lanes::VisitNot(const tir::Not* expr) {
  const PrimExpr* a = VisitExpr(expr->a);
  return a ? make_.Not(a) : nullptr;
}

const PrimExpr* Lanes::VisitSelect(const tir::Select* expr) {
  const PrimExpr* condition = VisitExpr(expr->condition);
  const PrimExpr* a = condition ? VisitExpr(expr->true_value) : nullptr;
  const PrimExpr* b = a ? VisitExpr(expr->false_value) : nullptr;
  return b ? make_.Select(condition, a, b) : nullptr;
}

// Pure functions compute each lane on its own, but for those of the positions of lanes.
const PrimExpr* Lanes::VisitCall(const tir::Call* call) {
  if (IsOp(call->op, op::kTirGetActiveLaneMask))
    return make_.Binary(NodeKind::kLT, make_.Add(call->args[0], Number(*call)), call->args[1]);
  const bool is_of_positions =
      IsOp(call->op, op::kTirVectorlow) || IsOp(call->op, op::kTirVectorhigh) || IsOp(call->op, op::kTirVectorcombine);
  if (is_of_positions || arith::SideEffect(call) > CallEffect::kReadState) return nullptr;
  std::vector<const PrimExpr*> args;
  for (const PrimExpr* arg : call->args) {
    args.push_back(VisitExpr(arg));
    if (!args.back()) return nullptr;
  }
  return make_.Keep(tir::Call(Scalar(call->dtype), call->op, make_.Operands(args)));
}

const PrimExpr* Lanes::VisitBufferLoad(const tir::BufferLoad* load) {
  if (load->buffer->dtype.lanes != 1) return nullptr;
  std::vector<const PrimExpr*> indices;
  for (const PrimExpr* index : load->indices) {
    indices.push_back(VisitExpr(index));
    if (!indices.back()) return nullptr;
  }
  return make_.Keep(tir::BufferLoad(Scalar(load->dtype), load->buffer, make_.Operands(indices), nullptr));
}

}  // namespace iropt::races
