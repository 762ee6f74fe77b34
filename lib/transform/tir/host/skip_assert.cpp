// tir.SkipAssert: removes assertions.
//
//   assert n == 16, "wrong size"
//   B[0] = A[0]                      -->    B[0] = A[0]
//
// O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include "iropt/ir/rewrite_limit.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class AssertSkipper : public tir::StmtExprMutator {
 public:
  explicit AssertSkipper(Workspace& workspace) : StmtExprMutator(workspace, tir::kRewriteBuffers) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }
  const tir::Stmt* VisitAssertStmt(const tir::AssertStmt* stmt) override {
    return AllowRewrite("removed-assert", *stmt) ? VisitStmt(stmt->body) : StmtExprMutator::VisitAssertStmt(stmt);
  }
};

}  // namespace

Pass CreateSkipAssert(const PassOptions& options) { return CreateMutatorPass<AssertSkipper>(options.info(), {}); }

}  // namespace iropt
