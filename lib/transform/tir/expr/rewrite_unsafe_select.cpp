// tir.RewriteUnsafeSelect: evaluates only the operand that is selected if the other one could fail.
//
//   B[i] = T.Select(i < 8, A[i], T.float32(0))    -->    B[i] = T.if_then_else(i < 8, A[i], T.float32(0))
//
// Loads, and calls that are not pure, can fail where the condition does not hold. A selection by a vector stays.
// O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <vector>

#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/expr/unsafe_expr.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class UnsafeSelectRewriter : public tir::StmtExprMutator {
 public:
  explicit UnsafeSelectRewriter(Workspace& workspace) : StmtExprMutator(workspace, tir::kRewriteBuffers) {}

 protected:
  const PrimExpr* VisitSelect(const tir::Select* select) override {
    const PrimExpr* visited = StmtExprMutator::VisitSelect(select);
    const auto* safe = As<tir::Select>(visited);
    if (!safe || !IsUnsafeSelect(*safe)) return visited;
    const std::vector<const PrimExpr*> args = {safe->condition, safe->true_value, safe->false_value};
    return workspace().New<tir::Call>(safe->dtype, GetOp(op::kTirIfThenElse), workspace().Copy(args));
  }
};

}  // namespace

Pass CreateRewriteUnsafeSelect(const PassOptions& options) {
  return CreateMutatorPass<UnsafeSelectRewriter>(options.info(), {});
}

}  // namespace iropt
