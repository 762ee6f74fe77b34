// tir.ReduceBranchingThroughOvercompute: removes branches of which one does what the other one does as well.
//
//   for i in range(16):                       for i in range(16):
//       if i < 14:                                A[i] = 1
//           A[i] = 1                  -->
//       else:
//           A[i] = 1
//
// A branch is a special case of the other one if that does the same where the condition holds, once statements without
// an effect are removed from it. O(nodes), times the nesting of branches.
//
// Source: TVM 0.18's pass of this name, without its analysis of dataflow.
#include "function_passes.h"
#include "iropt/ir/structural.h"
#include "iropt/transform/passes.h"
#include "statements.h"

namespace iropt {

namespace {

class BranchReducer : public SeqMutator {
 public:
  explicit BranchReducer(Workspace& workspace)
      : SeqMutator(workspace), analyzer_(arith::PrimBuilder(workspace.arena()), arith::Analyzer::SymVars::kAny) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

 protected:
  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* stmt) override {
    const auto* branch = static_cast<const tir::IfThenElse*>(SeqMutator::VisitIfThenElse(stmt));
    const tir::Stmt* otherwise = branch->else_case ? branch->else_case : NoOp(workspace());
    if (IsSpecialCase(branch->condition, otherwise, branch->then_case)) return otherwise;
    const PrimExpr* negated = analyzer_.make().Not(branch->condition);
    if (IsSpecialCase(negated, branch->then_case, otherwise)) return branch->then_case;
    return branch;
  }
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    analyzer_.Bind(loop->loop_var, loop->min, loop->extent);
    const tir::Stmt* result = SeqMutator::VisitFor(loop);
    analyzer_.Unbind(loop->loop_var);
    return result;
  }
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    for (const tir::IterVar* axis : block->iter_vars) analyzer_.Bind(axis->var, axis->dom->min, axis->dom->extent);
    const tir::Stmt* result = SeqMutator::VisitBlock(block);
    for (const tir::IterVar* axis : block->iter_vars) analyzer_.Unbind(axis->var);
    return result;
  }

 private:
  bool IsSpecialCase(const PrimExpr* condition, const tir::Stmt* general, const tir::Stmt* special) {
    const arith::Analyzer::Constraint scope(analyzer_, analyzer_.RewriteSimplify(condition));
    return StructuralEqual(RemoveNoOps(general, analyzer_, workspace()), special);
  }

  arith::Analyzer analyzer_;
};

}  // namespace

Pass CreateReduceBranchingThroughOvercompute(const PassOptions& options) {
  return CreatePrimFuncPass(
      options.info(), [](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
        if (context.context().ConfigBool("tir.ReduceBranchingThroughOvercompute.use_dataflow_analysis")) {
          context.diagnostics().Warning({}, "unsupported-option",
                                        "stores that are overwritten later are not looked for");
        }
        const tir::Stmt* body = BranchReducer(context.workspace()).VisitStmt(function->body);
        if (body == function->body) return function;
        auto* copy = context.workspace().New<PrimFunc>(*function);
        copy->body = body;
        return copy;
      });
}

}  // namespace iropt
