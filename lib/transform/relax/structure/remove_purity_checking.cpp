// RemovePurityChecking: pure functions say that they are pure, instead of their operations proving it.
//
//   @R.function                                       @R.function
//   def f(x):                                         def f(x):
//       y = R.call_pure_packed("g", x)    -->             R.func_attr({"relax.force_pure": True})
//       return y                                          y = R.call_packed("g", x)
//                                                         return y
//
// Every pure function, local ones included, gets the attribute relax.force_pure. Calls that are wrapped only to be
// pure (call_pure_packed, call_inplace_packed, invoke_pure_closure) lose the wrapping, so that lowering may bring in
// operations with effects. In dataflow blocks, which have no place for effects, they keep it: ToNonDataflow comes
// first. O(nodes).
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include <utility>

#include "iropt/op/op.h"
#include "iropt/transform/passes.h"
#include "transform/relax/util/rewrite.h"

namespace iropt {

namespace {

class PurityRemover : private ExprRewriter<PurityRemover> {
 public:
  PurityRemover(const Module* module, Workspace& workspace) : ExprRewriter(module, workspace) {}

  const Function* Run(const Function* function) {
    return WithAttribute(make_.WithBody(*function, Visit(function->body)));
  }

 private:
  friend class ExprRewriter<PurityRemover>;

  const BindingBlock* VisitBlock(const BindingBlock& block) {
    const bool outer = std::exchange(in_dataflow_, block.is_dataflow());
    ListEditor bindings(block.bindings, bindings_);
    for (const Binding* binding : block.bindings) {
      const Expr* value = Visit(ValueOf(binding));
      if (const auto* function = As<Function>(value)) value = WithAttribute(function);
      bindings.Replace(make_.With(*binding, binding->var, value));
    }
    in_dataflow_ = outer;
    return make_.With(block, bindings.Finish(make_.workspace()));
  }

  const Expr* VisitCall(const Call& call) {
    if (in_dataflow_) return &call;
    static const Expr* const call_pure_packed = GetOp("relax.call_pure_packed");
    static const Expr* const call_inplace_packed = GetOp("relax.call_inplace_packed");
    static const Expr* const invoke_pure_closure = GetOp("relax.invoke_pure_closure");
    static const Expr* const invoke_closure = GetOp("relax.invoke_closure");
    if (call.op == invoke_pure_closure) return make_.With(call, invoke_closure, call.args, call.type_args, false);
    const bool inplace = call.op == call_inplace_packed;
    if ((call.op != call_pure_packed && !inplace) || call.args.empty()) return &call;
    // What call_inplace_packed says of its operands is not for the function that it calls.
    const List<const Expr*> args = make_.workspace().Copy(call.args.span().subspan(1));
    auto* unwrapped =
        make_.workspace().New<Call>(call.args[0], args, inplace ? nullptr : call.attrs, call.type_args, call.type);
    unwrapped->set_span(call.span());
    return unwrapped;
  }

  const Function* WithAttribute(const Function* function) {
    const DictAttr* attrs = function->attrs->With(attr::kForcePure, IntAttr::Bool(true));
    if (!function->is_pure || attrs == function->attrs) return function;
    auto* forced = make_.workspace().New<Function>(function->params, function->body, function->ret_type,
                                                   function->is_pure, attrs, function->type);
    forced->set_span(function->span());
    return forced;
  }

  static const Var* ReplacementOf(const Var* var) { return var; }

  bool in_dataflow_ = false;
};

}  // namespace

Pass CreateRemovePurityChecking(const PassOptions& options) {
  return CreateFunctionPass(options.info(), [](const Function* function, FunctionPassContext& context) {
    return Result<const Function*>(PurityRemover(&context.module(), context.workspace()).Run(function));
  });
}

}  // namespace iropt
