// tir.RemoveAssume: removes the assumptions that other passes have used.
//
//   T.assume(n % 4 == 0)           -->     B[0] = A[n]
//   B[0] = A[n]
//
// tir.RemoveNoOp then removes what is empty. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include "function_passes.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

class AssumptionRemover : public tir::StmtExprMutator {
 public:
  explicit AssumptionRemover(Workspace& workspace) : StmtExprMutator(workspace, tir::kDropNoOps) {}
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }  // assumptions are statements

 protected:
  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    return CallOf(stmt->value, op::kTirAssume) ? tir::NoOp(workspace()) : stmt;
  }
};

}  // namespace

Pass CreateRemoveAssume(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              const tir::Stmt* body = AssumptionRemover(context.workspace()).VisitStmt(function->body);
                              function = WithBody(function, body, context.workspace());
                              return RemoveNoOps(function, context.context(), context.workspace());
                            });
}

}  // namespace iropt
