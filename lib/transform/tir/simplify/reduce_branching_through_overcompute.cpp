// tir.ReduceBranchingThroughOvercompute: removes branches of which one does what the other one does as well.
//
//   for i in range(16):                       for i in range(16):
//       if i < 14:                                A[i] = 1
//           A[i] = 1                  -->
//       else:
//           A[i] = 1
//
// A branch is a special case of the other one if that does the same where the condition holds, once statements without
// an effect are removed from it. With the configuration use_dataflow_analysis, also stores have no effect of what is
// known to be in memory, and those that are overwritten before anything reads them:
//
//   for i in range(16):                       for i in range(16):
//       if i < 14:                                A[i] = 1
//           A[i] = 1                  -->     for i in range(16):
//   for i in range(16):                           if i >= 14:
//       if i >= 14:                                   A[i] = 2
//           A[i] = 2
//
// Branches around more than 64 others in each other stay.
//
// O(nodes), times the nesting of branches up to that.
//
// Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <utility>

#include "buffer_facts_mutator.h"
#include "configs/tir.ReduceBranchingThroughOvercompute.h"
#include "function_passes.h"
#include "iropt/ir/structural.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "overwritten_stores.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class BranchReducer : public BufferFactsMutator {
 public:
  // `guards` are branches that are replaced by their statements.
  BranchReducer(LookupSet<const tir::IfThenElse*> guards, bool by_values, arith::Analyzer& analyzer,
                Workspace& workspace)
      : BufferFactsMutator(analyzer, by_values, workspace), guards_(std::move(guards)) {}

 protected:
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Stmt* visited = BufferFactsMutator::VisitBufferStore(store);
    if (facts_) facts_->Store(*store);
    return visited;
  }
  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* stmt) override {
    if (guards_.contains(stmt)) return VisitStmt(stmt->then_case);
    VisitExpr(stmt->condition);  // before the state is taken
    const BufferFacts::State before = facts_ ? facts_->state() : BufferFacts::State();
    const int nested_before = std::exchange(nested_, 0);
    const auto* branch = static_cast<const tir::IfThenElse*>(BufferFactsMutator::VisitIfThenElse(stmt));
    const tir::Stmt* result = nested_ <= kMaxNested ? Reduced(*branch, before) : branch;
    nested_ = std::max(nested_before, result == branch ? nested_ + 1 : nested_);
    return result;
  }

 private:
  // The number of branches in each other up to which the one around them is compared: what is in it is looked at again.
  static constexpr int kMaxNested = 64;

  // The case of the branch that does what the other one does as well, or the branch. `before` holds before it.
  const tir::Stmt* Reduced(const tir::IfThenElse& branch, const BufferFacts::State& before) {
    const tir::Stmt* otherwise = branch.else_case ? branch.else_case : tir::NoOp(workspace());
    if (IsSpecialCase(branch.condition, otherwise, branch.then_case, before)) return otherwise;
    const PrimExpr* negated = analyzer_.make().Not(branch.condition);
    if (IsSpecialCase(negated, branch.then_case, otherwise, before)) return branch.then_case;
    return &branch;
  }

  // `facts` hold before the branch.
  bool IsSpecialCase(const PrimExpr* condition, const tir::Stmt* general, const tir::Stmt* special,
                     const BufferFacts::State& facts) {
    const arith::Analyzer::Constraint scope(analyzer_, analyzer_.RewriteSimplify(condition));
    const tir::Stmt* rest = RemoveNoOps(general, analyzer_, facts_ ? &facts : nullptr, workspace());
    return StructuralEqual(rest, special);
  }

  const LookupSet<const tir::IfThenElse*> guards_;
  int nested_ = 0;  // the number of branches in each other that were visited, since the innermost one around
};

}  // namespace

Pass CreateReduceBranchingThroughOvercompute(const PassOptions& options) {
  return CreateBodyPass(options.info(), {}, [](const PrimFunc& func, FunctionPassContext& context) {
    arith::Analyzer analyzer(arith::PrimBuilder(context.workspace()), arith::Analyzer::SymVars::kAny);
    LookupSet<const tir::IfThenElse*> guards;
    const bool by_values = config::tir::ReduceBranchingThroughOvercompute(context.context()).use_dataflow_analysis;
    if (by_values) guards = FindOverwrittenGuards(func.body, analyzer, context.workspace());
    return BranchReducer(std::move(guards), by_values, analyzer, context.workspace()).VisitStmt(func.body);
  });
}

}  // namespace iropt
