// tir.UseAssumeToReduceBranches: computes padding instead of branching around it, where assumptions say what is there.
//
//   for i in range(16):                                     for i in range(16):
//       T.assume(i < 14 or A[i] == 0)                           T.assume(i < 14 or A[i] == 0)
//   for i in range(16):                             -->     for i in range(16):
//       B[i] = T.if_then_else(14 <= i, 0, A[i] * 2)             B[i] = A[i] * 2
//
// The value of one branch replaces both if it is that of the other one where that is taken. Only in functions that are
// annotated as element-wise or broadcasting (attribute op_pattern), and only for whole stored values. O(nodes), times
// the nesting of loops.
//
// Source: TVM 0.18's pass of this name.
#include "buffer_facts_mutator.h"
#include "iropt/analysis/tir/op_pattern.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class PaddingBranchReducer : public BufferFactsMutator {
 public:
  PaddingBranchReducer(arith::Analyzer& analyzer, Workspace& workspace)
      : BufferFactsMutator(analyzer, /*by_values=*/true, workspace) {}

 protected:
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const PrimExpr* value = ReducedValue(store->value);
    if (value) {
      auto* copy = workspace().New<tir::BufferStore>(*store);
      copy->value = value;
      store = copy;
    }
    if (facts_) facts_->Store(*store);
    return store;
  }

 private:
  // The value of the branch that may replace the selection; null if neither may.
  const PrimExpr* ReducedValue(const PrimExpr* value) {
    const tir::Call* select = facts_ ? CallOf(value, op::kTirIfThenElse) : nullptr;
    if (!select || !arith::IsPure(select->args[0])) return nullptr;
    const PrimExpr* negated = analyzer_.RewriteSimplify(analyzer_.make().Not(select->args[0]));
    if (AreEqualWhere(select->args[0], select->args[2], select->args[1])) return analyzer_.Simplify(select->args[2]);
    if (AreEqualWhere(negated, select->args[1], select->args[2])) return analyzer_.Simplify(select->args[1]);
    return nullptr;
  }
  bool AreEqualWhere(const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b) {
    const arith::Analyzer::Constraint scope(analyzer_, condition);
    return DeepEqual(analyzer_.Simplify(Resolve(a)), analyzer_.Simplify(Resolve(b)));
  }
};

bool IsElementwise(const PrimFunc& func) {
  if (!func.attrs->Find(attr::kOpPattern)) return false;
  const OpPattern pattern = AnnotatedOpPattern(func);
  return pattern == OpPattern::kElemWise || pattern == OpPattern::kBroadcast;
}

}  // namespace

Pass CreateUseAssumeToReduceBranches(const PassOptions& options) {
  return CreateBodyPass(options.info(), {}, [](const PrimFunc& func, FunctionPassContext& context) {
    if (!IsElementwise(func)) return func.body;
    arith::Analyzer analyzer(arith::PrimBuilder(context.workspace()), arith::Analyzer::SymVars::kAny);
    return PaddingBranchReducer(analyzer, context.workspace()).VisitStmt(func.body);
  });
}

}  // namespace iropt
