// InferType: infers all types again from those of the parameters.
//
//   def main(x: R.Tensor((2, "n"))):                   def main(x: R.Tensor((2, "n"))) -> R.Tensor((2, n)):
//       y: R.Tensor(ndim=2) = R.exp(x)         -->         y: R.Tensor((2, n)) = R.exp(x)
//       return y                                           return y
//
// Passes that change operands keep the annotations around them; this one makes them as precise as possible, and reports
// types that no longer fit. O(nodes).
//
// Source: the name is that of a pass of TVM's Relay.
#include "iropt/analysis/relax/call_graph.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/substitute.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/relax/structure/infer_types.h"

namespace iropt {

namespace {

class TypeRefresher : public ExprMutator {
 public:
  TypeRefresher(const ParamTypeFn& param_type, const Module& module, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), param_type_(param_type), module_(module), inferrer_(inferrer) {}

  const Function* Run(const Function* function) {
    for (const Var* param : function->params) {
      const Type* type = param_type_ ? param_type_(param) : nullptr;
      if (type && !TypeEqual(type, param->type)) RemapToType(param, type);
    }
    return To<Function>(VisitExpr(function));
  }

 protected:
  const Expr* VisitCall(const Call* call) override { return Refresh(call, ExprMutator::VisitCall(call)); }
  const Expr* VisitTuple(const Tuple* tuple) override { return Refresh(tuple, ExprMutator::VisitTuple(tuple)); }
  const Expr* VisitTupleGetItem(const TupleGetItem* item) override {
    return Refresh(item, ExprMutator::VisitTupleGetItem(item));
  }
  const Expr* VisitIf(const If* branch) override { return Refresh(branch, ExprMutator::VisitIf(branch)); }

  const Expr* VisitFunction(const Function* old) override {
    const auto* visited = To<Function>(ExprMutator::VisitFunction(old));
    const Type* returned = FunctionReturnType(visited->params, visited->body->type, nullptr, workspace().arena());
    if (visited == old && TypeEqual(returned, old->ret_type)) return old;
    return NewLike<Function>(workspace(), *old, visited->params, visited->body, returned, old->is_pure, old->attrs,
                             nullptr);
  }

  void VisitVarBinding(const VarBinding* binding) override {
    const Expr* value = VisitExpr(binding->value);
    const Type* type = TypeOfExpr(value, &module_);
    if (!binding->var->is_dataflow()) type = VisibleType(type, workspace().arena());
    if (!type || TypeEqual(type, binding->var->type)) return ReEmitBinding(binding, value);
    builder().EmitNormalized(Rebuild(*binding, RemapToType(binding->var, type), value));
  }

  // Types change if a variable in them is the shape of a tensor.
  const Type* VisitType(const Type* type) override {
    return MapShapeVars(type, workspace().arena(), [this](const Expr* var) { return VisitExpr(var); });
  }

 private:
  template <class X>
  const Expr* Refresh(const X* old, const Expr* visited) {
    if (visited != old) return visited;
    const Type* type = inferrer_.Infer(old);
    if (type && TypeEqual(type, old->type)) return old;
    X* typed = workspace().New<X>(*old);
    typed->type = nullptr;
    return typed;
  }

  const ParamTypeFn& param_type_;
  const Module& module_;
  TypeInferrer& inferrer_;
};

}  // namespace

Result<const Function*> InferTypes(const Function* function, const ParamTypeFn& param_type, const Module& module,
                                   Workspace& workspace, DiagnosticEngine& diagnostics) {
  OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
  TypeRefresher refresher(param_type, module, workspace, inferrer);
  const Function* result = refresher.Run(function);
  if (refresher.failed()) return Failure{ErrorCode::PassFailed};
  return result;
}

Result<Module> InferTypes(Module module, DiagnosticEngine& diagnostics) {
  bool ok = true;
  for (const size_t i : MakeCallGraph(module).post_order) {
    const ModuleEntry entry = module.functions()[i];
    if (!Is<Function>(entry.func)) continue;
    Workspace workspace(module, entry.storage);
    const auto* function = To<Function>(entry.func);
    const Result<const Function*> typed = InferTypes(function, nullptr, module, workspace, diagnostics);
    ok &= typed.ok();
    if (typed.ok() && *typed != function) module.SetAt(i, *typed, workspace.Finish());
  }
  return ok ? Result<Module>(std::move(module)) : Failure{ErrorCode::PassFailed};
}

Pass CreateInferType(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) {
    return InferTypes(std::move(module), context.diagnostics);
  });
}

}  // namespace iropt
