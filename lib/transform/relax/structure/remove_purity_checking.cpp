// RemovePurityChecking: sets relax.force_pure on pure functions and unwraps call_pure_packed.
//
//   @R.function                                       @R.function
//   def f(x):                                         def f(x):
//       y = R.call_pure_packed("g", x)    -->             R.func_attr({"relax.force_pure": True})
//       return y                                          y = R.call_packed("g", x)
//                                                         return y
//
// Every pure function, local ones included, gets the attribute relax.force_pure. Calls that are wrapped only to be pure
// (call_pure_packed, call_inplace_packed, invoke_pure_closure) are unwrapped, so that lowering can introduce operations
// with effects. Calls in dataflow blocks, which must not have effects, are not: run ToNonDataflow first. O(nodes).
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include <utility>

#include "iropt/ir/relax/rewriter.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

class PurityRemover : private ExprRewriter<PurityRemover> {
 public:
  explicit PurityRemover(Workspace& workspace) : ExprRewriter(workspace, nullptr, Retype::kNever) {}

  const Function* Run(const Function* function) {
    return ForcePure(rebuilder().RebuildBody(*function, VisitExpr(function->body)));
  }

 private:
  friend class ExprRewriter<PurityRemover>;

  const BindingBlock* VisitBlock(const BindingBlock* block) {
    const bool outer = std::exchange(in_dataflow_, block->is_dataflow());
    const BindingBlock* result = ExprRewriter::VisitBlock(block);
    in_dataflow_ = outer;
    return result;
  }

  const Expr* VisitFunction(const Function* function) { return Run(function); }

  const Expr* VisitCall(const Call* call) {
    if (in_dataflow_) return call;
    if (IsOp(call->op, op::kInvokePureClosure)) return Rebuild(*call, GetOp(op::kInvokeClosure), call->args);
    const bool inplace = IsOp(call->op, op::kCallInplacePacked);
    if ((!IsOp(call->op, op::kCallPurePacked) && !inplace) || call->args.empty()) return call;
    const List<const Expr*> args = workspace().Copy(call->args.span().subspan(1));
    // The attributes of call_inplace_packed do not apply to a direct call.
    return Rebuild(*call, call->args[0], args, inplace ? nullptr : call->attrs, call->type_args, call->type);
  }

  const Function* ForcePure(const Function* function) {
    const DictAttr* attrs = function->attrs->With(attr::kForcePure, IntAttr::Bool(true));
    if (!function->is_pure || attrs == function->attrs) return function;
    auto* forced = workspace().New<Function>(*function);
    forced->attrs = attrs;
    return forced;
  }

  bool in_dataflow_ = false;
};

}  // namespace

Pass CreateRemovePurityChecking(const PassOptions& options) {
  return CreateFunctionPass(options.info(), [](const Function* function, FunctionPassContext& context) {
    return Result<const Function*>(PurityRemover(context.workspace()).Run(function));
  });
}

}  // namespace iropt
