// tir.RewriteUnsafeSelect: evaluates only the operand that is selected if the other one could fail.
//
//   B[i] = T.Select(i < 8, A[i], T.float32(0))    -->    B[i] = T.if_then_else(i < 8, A[i], T.float32(0))
//
// Loads, and calls that are not pure, can fail where the condition does not hold. A selection by a vector stays.
// O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <vector>

#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/loop_pass.h"

namespace iropt {

namespace {

// Returns whether evaluating an expression may fail. A Select counts with its condition: its operands are made safe.
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
    if (IsOp(call->op, OpId::kTirIfThenElse)) return VisitExpr(call->args[0]);
    if (IsOp(call->op, OpId::kTirAddressOf)) {
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

class UnsafeSelectRewriter : public LoopMutator {
 public:
  using LoopMutator::LoopMutator;

 protected:
  const PrimExpr* VisitSelect(const tir::Select* select) override {
    const PrimExpr* visited = LoopMutator::VisitSelect(select);
    const auto* safe = As<tir::Select>(visited);
    if (!safe || safe->condition->dtype != DataType::Bool() ||
        (!UnsafeFinder::IsUnsafe(safe->true_value) && !UnsafeFinder::IsUnsafe(safe->false_value))) {
      return visited;
    }
    const std::vector<const PrimExpr*> args = {safe->condition, safe->true_value, safe->false_value};
    return workspace().New<tir::Call>(safe->dtype, GetOp(OpId::kTirIfThenElse), workspace().Copy(args));
  }
};

}  // namespace

Pass CreateRewriteUnsafeSelect(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), [](const PrimFunc* func, FunctionPassContext& context) {
    UnsafeSelectRewriter rewriter(context.workspace());
    return Result<const PrimFunc*>(WithBody(func, rewriter.VisitStmt(func->body), context.workspace()));
  });
}

}  // namespace iropt
