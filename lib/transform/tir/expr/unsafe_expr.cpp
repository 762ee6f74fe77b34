#include "transform/tir/expr/unsafe_expr.h"

#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"

namespace iropt {

namespace {

// The operands of a Select do not count: tir.RewriteUnsafeSelect makes them safe.
class UnsafeFinder : public tir::ExprVisitor {
 public:
  static bool IsUnsafe(const PrimExpr* expr) {
    UnsafeFinder finder;
    finder.VisitExpr(expr);
    return finder.unsafe_;
  }

  void VisitExpr(const PrimExpr* expr) override {
    if (!unsafe_) ExprVisitor::VisitExpr(expr);
  }

 protected:
  void VisitSelect(const tir::Select* select) override { VisitExpr(select->condition); }
  void VisitBufferLoad(const tir::BufferLoad*) override { unsafe_ = true; }
  void VisitShuffle(const tir::Shuffle* shuffle) override {
    for (const PrimExpr* vector : shuffle->vectors) VisitExpr(vector);
  }

  void VisitCall(const tir::Call* call) override {
    if (IsOp(call->op, op::kTirIfThenElse)) return VisitExpr(call->args[0]);
    if (IsOp(call->op, op::kTirAddressOf)) {
      if (const auto* load = As<tir::BufferLoad>(call->args[0])) {
        for (const PrimExpr* index : load->indices) VisitExpr(index);
        return;
      }
    }
    const auto* op = As<Op>(call->op);
    unsafe_ = !op || EffectOf(op) > CallEffect::kPure;
    ExprVisitor::VisitCall(call);
  }

 private:
  bool unsafe_ = false;
};

}  // namespace

bool IsUnsafeExpr(const PrimExpr* expr) { return UnsafeFinder::IsUnsafe(expr); }

bool IsUnsafeSelect(const tir::Select& select) {
  return select.condition->dtype == DataType::Bool() &&
         (IsUnsafeExpr(select.true_value) || IsUnsafeExpr(select.false_value));
}

}  // namespace iropt
