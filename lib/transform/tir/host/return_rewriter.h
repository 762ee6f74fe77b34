// Rewrites what a function returns, where the convention for calls has no return values.
#pragma once

#include <string>
#include <utility>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt {

class ReturnRewriter : public tir::StmtExprMutator {
 public:
  ReturnRewriter(Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace), diagnostics_(diagnostics) {}

  bool failed() const { return failed_; }

 protected:
  // Makes the statement that replaces `stmt`, which is T.ret(value).
  virtual const tir::Stmt* Return(const PrimExpr* value, const tir::Evaluate& stmt) = 0;

  const tir::Stmt* Fail(const tir::Evaluate& stmt, std::string message) {
    diagnostics_.Error(Location(stmt), "pass-failed", std::move(message));
    failed_ = true;
    return &stmt;
  }

 private:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const bool is_parallel = loop->for_kind == tir::ForKind::kParallel;
    num_parallel_ += is_parallel ? 1 : 0;
    const tir::Stmt* visited = StmtExprMutator::VisitFor(loop);
    num_parallel_ -= is_parallel ? 1 : 0;
    return visited;
  }
  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    const tir::Call* call = CallOf(stmt->value, op::kTirRet);
    if (!call || call->args.size() != 1) return stmt;
    if (num_parallel_ > 0) return Fail(*stmt, "a function must not return from within a parallel loop");
    return Return(call->args[0], *stmt);
  }

  DiagnosticEngine& diagnostics_;
  int num_parallel_ = 0;
  bool failed_ = false;
};

}  // namespace iropt
