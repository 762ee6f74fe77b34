// EtaExpand: makes local functions of functions of the module that are used as values.
//
//                                  @R.function
//   h = cls.f                -->   def h(a: R.Tensor((4,))) -> R.Tensor((4,)):
//                                      gv = cls.f(a)
//                                      return gv
//
// Callees of calls and operands of operators, such as R.call_tir and R.make_closure, stay. O(nodes).
//
// Source: the pass of Relay of TVM 0.18 of this name, of which expand_constructor is for data types that Relax lacks.
#include <utility>
#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/EtaExpand.h"

namespace iropt {

namespace {

class EtaExpander : public ExprMutator {
 public:
  EtaExpander(const Module& module, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), module_(module) {}

 protected:
  const Expr* VisitCall(const Call* call) override {
    const bool is_operator = Is<Op>(call->op);
    const bool outer = std::exchange(keeps_names_, is_operator);
    const Expr* callee = Is<GlobalVar>(call->op) ? call->op : VisitExpr(call->op);
    const List<const Expr*> args = VisitList(call->args);
    keeps_names_ = outer;
    return Rebuild(*call, callee, args, call->attrs, call->type_args, call->type);
  }

  const Expr* VisitGlobalVar(const GlobalVar* name) override {
    const ModuleEntry* entry = module_.Find(name);
    const auto* callee = entry && !keeps_names_ ? As<Function>(entry->func) : nullptr;
    if (!callee) return name;
    // For parameters of its own, symbolic variables included.
    const auto* copy = To<Function>(CloneFunction(callee, workspace(), {.fresh_sym_vars = true}));
    std::vector<const Expr*> args(copy->params.begin(), copy->params.end());
    builder().BeginBindingBlock();
    const Var* result = builder().Emit(builder().MakeCall(name, args));
    const SeqExpr* body = builder().Seq({builder().EndBlock()}, result);
    return builder().MakeFunction(copy->params.span(), body, DictAttr::Empty(), callee->is_pure);
  }

 private:
  const Module& module_;
  bool keeps_names_ = false;  // in an operand of an operator
};

}  // namespace

Pass CreateEtaExpand(const PassOptions& options) {
  const bool expand = *pass_options::EtaExpand(options).expand_global_var;
  return CreateFunctionPass(
      options.info(), [expand](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        if (!expand) return function;
        OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
        EtaExpander expander(context.module(), context.workspace(), inferrer);
        const auto* result = To<Function>(expander.VisitExpr(function));
        if (expander.failed()) return Failure{ErrorCode::PassFailed};
        return result;
      });
}

}  // namespace iropt
