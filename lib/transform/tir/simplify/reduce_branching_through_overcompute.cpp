// tir.ReduceBranchingThroughOvercompute: removes branches of which one does what the other one does as well.
//
//   for i in range(16):                       for i in range(16):
//       if i < 14:                                A[i] = 1
//           A[i] = 1                  -->
//       else:
//           A[i] = 1
//
// A branch is a special case of the other one if that does the same where the condition holds, once statements without
// an effect are removed from it. With the configuration use_dataflow_analysis, also stores have no effect that are
// overwritten before anything reads them:
//
//   for i in range(16):                       for i in range(16):
//       if i < 14:                                A[i] = 1
//           A[i] = 1                  -->     for i in range(16):
//   for i in range(16):                           if i >= 14:
//       if i >= 14:                                   A[i] = 2
//           A[i] = 2
//
// O(nodes), times the nesting of branches and loops.
//
// Source: TVM 0.18's pass of this name.
#include <unordered_set>
#include <utility>

#include "context_mutator.h"
#include "function_passes.h"
#include "iropt/ir/structural.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "overwritten_stores.h"

namespace iropt {

namespace {

class BranchReducer : public ContextMutator {
 public:
  // `guards` are branches that are replaced by their statements.
  BranchReducer(std::unordered_set<const tir::IfThenElse*> guards, arith::Analyzer& analyzer, Workspace& workspace)
      : ContextMutator(analyzer, /*by_values=*/false, workspace), guards_(std::move(guards)) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

 protected:
  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* stmt) override {
    if (guards_.contains(stmt)) return stmt->then_case;
    auto* copy = workspace().New<tir::IfThenElse>(*stmt);
    VisitBranches(stmt->condition, *copy);
    const bool same = copy->then_case == stmt->then_case && copy->else_case == stmt->else_case;
    const tir::IfThenElse* branch = same ? stmt : copy;
    const tir::Stmt* otherwise = branch->else_case ? branch->else_case : NoOp(workspace());
    if (IsSpecialCase(branch->condition, otherwise, branch->then_case)) return otherwise;
    const PrimExpr* negated = analyzer_.make().Not(branch->condition);
    if (IsSpecialCase(negated, branch->then_case, otherwise)) return branch->then_case;
    return branch;
  }

 private:
  bool IsSpecialCase(const PrimExpr* condition, const tir::Stmt* general, const tir::Stmt* special) {
    const arith::Analyzer::Constraint scope(analyzer_, analyzer_.RewriteSimplify(condition));
    return StructuralEqual(RemoveNoOps(general, analyzer_, workspace()), special);
  }

  const std::unordered_set<const tir::IfThenElse*> guards_;
};

}  // namespace

Pass CreateReduceBranchingThroughOvercompute(const PassOptions& options) {
  return CreatePrimFuncPass(
      options.info(), [](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
        arith::Analyzer analyzer(arith::PrimBuilder(context.workspace().arena()), arith::Analyzer::SymVars::kAny);
        std::unordered_set<const tir::IfThenElse*> guards;
        if (context.context().ConfigBool("tir.ReduceBranchingThroughOvercompute.use_dataflow_analysis"))
          guards = FindOverwrittenGuards(function->body, analyzer, context.workspace());
        const tir::Stmt* body =
            BranchReducer(std::move(guards), analyzer, context.workspace()).VisitStmt(function->body);
        if (body == function->body) return function;
        auto* copy = context.workspace().New<PrimFunc>(*function);
        copy->body = body;
        return copy;
      });
}

}  // namespace iropt
