#include "iropt/analysis/tir/loop_jumps.h"

#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt {

namespace {

// Jumps in inner loops concern these.
class LoopJumpFinder : public tir::StmtExprVisitor {
 public:
  bool found = false;
  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitFor(const tir::For*) override {}
  void VisitWhile(const tir::While*) override {}
  void VisitEvaluate(const tir::Evaluate* stmt) override { found |= IsLoopJump(*stmt); }
};

}  // namespace

bool IsLoopJump(const tir::Stmt& stmt) {
  const auto* evaluate = As<tir::Evaluate>(&stmt);
  const auto* call = evaluate ? As<tir::Call>(evaluate->value) : nullptr;
  return call && (IsOp(call->op, op::kTirBreakLoop) || IsOp(call->op, op::kTirContinueLoop));
}

bool HasReturns(const tir::Stmt* body) {
  bool found = false;
  tir::PostOrderVisit(body, [&](const Node* node) {
    const auto* call = As<tir::Call>(node);
    found = found || (call && IsOp(call->op, op::kTirRet));
  });
  return found;
}

bool HasLoopJumps(const tir::Stmt* body) {
  LoopJumpFinder finder;
  finder.VisitStmt(body);
  return finder.found;
}

}  // namespace iropt
