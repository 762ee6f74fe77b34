// LambdaLift: lifts nested functions to private functions of the module.
//
//   def main(x, y):                              def main(x, y):
//       def double(a):                               f = R.make_closure(main_f, (x,))
//           return R.add(a, a)                       z = main_double(y)
//       def f(b):                        -->         w = R.invoke_pure_closure(f, (z,), sinfo_args=...)
//           return R.add(b, x)                       return w
//       z = double(y)                            def main_double(a):
//       w = f(z)                                     return R.add(a, a)
//       return w                                 def main_f(b, x):
//                                                    return R.add(b, x)
//
// A function that captures variables of the enclosing function gets them as further parameters, and a closure replaces
// it: a value of type R.Object, which holds them until it is invoked. Symbolic variables that no parameter would define
// become parameters, too. For the names see lambda_names.h. A function that returns a closure now returns an R.Object,
// which its callers invoke; they are rewritten after it.
//
// O(nodes) for each level of nesting. Source: T. Johnsson, Lambda Lifting, 1985; TVM 0.18's pass of this name.
#include "iropt/transform/relax/ipo/lambda_lift.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "iropt/analysis/relax/call_graph.h"
#include "iropt/analysis/relax/lift_plan.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "lambda_names.h"

namespace iropt {

namespace {

// A local function that is lifted to the module.
struct LiftedLambda {
  const GlobalVar* name;
  std::vector<const Var*> captured = {};  // captured variables in the order of their uses
  bool is_closure() const { return !captured.empty(); }
};

// Rewrites one function of the module and adds its local functions to the module.
class LambdaLifter : public ExprMutator {
 public:
  LambdaLifter(Module& module, const LambdaNames& names, const LookupSet<const GlobalVar*>& changed,
               Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), module_(module), names_(names), changed_(changed) {}

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const auto* function = As<Function>(binding->value);
    if (!function) return ExprMutator::VisitVarBinding(binding);
    const Var* var = binding->var;
    const LiftedLambda lambda = Analyze(*function, var);
    Declare(lambda, *function);
    if (!lambda.is_closure()) Remap(var, lambda.name);
    if (var->id >= lambdas_.size()) lambdas_.resize(std::max<size_t>(workspace().num_vars(), var->id + size_t{1}));
    lambdas_[var->id] = &lambda;
    const auto* lifted = To<Function>(ExprMutator::VisitFunction(function));
    lambdas_[var->id] = nullptr;
    Define(lambda, *lifted);
    if (lambda.is_closure()) ReEmitBinding(binding, builder().Normalize(MakeClosure(lambda, *function)));
  }

  // A function that refers to its own closure rebuilds it from its parameters.
  const Expr* VisitVar(const Var* var) override {
    const LiftedLambda* around = LambdaAround(var);
    return around && around->is_closure() ? MakeClosure(*around, *var) : ExprMutator::VisitVar(var);
  }

  const Expr* VisitCall(const Call* old) override {
    if (const auto* callee = As<GlobalVar>(old->op)) {
      const auto* call = To<Call>(ExprMutator::VisitCall(old));
      return changed_.contains(callee) ? MakeCall(*old, callee, call->args, old->attrs, old->type_args) : call;
    }
    const auto* var = As<Var>(old->op);
    if (!var) return ExprMutator::VisitCall(old);
    const LiftedLambda* around = LambdaAround(var);
    if (around && around->is_closure()) {
      const List<const Expr*> own = VisitList(old->args);
      std::vector<const Expr*> args(own.begin(), own.end());
      for (const Expr* captured : CapturedVars(*around)) args.push_back(captured);
      return MakeCall(*old, around->name, workspace().Copy(args), old->attrs, old->type_args);
    }
    const auto* closure = As<Var>(ExprMutator::VisitVar(var));
    const auto* function = As<FuncType>(var->type);
    if (!closure || !function || !Is<ObjectType>(closure->type)) return ExprMutator::VisitCall(old);
    return Invoke(*old, closure, function->purity);
  }

  // A function that returned a function may now return a closure.
  const Expr* VisitFunction(const Function* old) override {
    const auto* function = To<Function>(ExprMutator::VisitFunction(old));
    if (TypeEqual(function->body->type, old->body->type)) return function;
    const Type* returned = builder().inferrer()->ReturnType(function->params, function->body->type);
    if (TypeEqual(returned, function->ret_type)) return function;
    return NewLike<Function>(workspace(), *old, function->params, function->body, returned, function->is_pure,
                             function->attrs, nullptr);
  }

 private:
  const LiftedLambda* LambdaAround(const Var* var) const {
    return var->id < lambdas_.size() ? lambdas_[var->id] : nullptr;
  }

  // Local functions that become functions of the module need not be captured; instead of enclosing functions that
  // become closures it captures their captured variables.
  LiftedLambda Analyze(const Function& function, const Var* own) {
    LiftedLambda lambda{names_.at(&function)};
    LookupSet<const Var*> seen;
    const auto capture = [&](const Var* var) {
      if (seen.insert(var)) lambda.captured.push_back(var);
    };
    for (const Var* var : OperandsOf(&function).vars) {
      if (var == own || Is<GlobalVar>(ExprMutator::VisitVar(var))) continue;
      if (const LiftedLambda* around = LambdaAround(var)) {
        for (const Var* needed : around->captured) capture(needed);
      } else {
        capture(var);
      }
    }
    return lambda;
  }

  // The captured variables as the rewritten function has them.
  std::vector<const Expr*> CapturedVars(const LiftedLambda& lambda) {
    std::vector<const Expr*> captured;
    for (const Var* var : lambda.captured) captured.push_back(ExprMutator::VisitVar(var));
    return captured;
  }

  // The parameters, then the captured variables.
  std::vector<const Var*> AllParams(const LiftedLambda& lambda, const Function& function) {
    std::vector<const Var*> params(function.params.begin(), function.params.end());
    for (const Expr* captured : CapturedVars(lambda)) params.push_back(To<Var>(captured));
    return params;
  }

  // The resulting calls must still be normalized.
  const Expr* MakeCall(const Node& old, const Expr* op, List<const Expr*> args, const Attr* attrs,
                       const TupleType* type_args) {
    return NewLike<Call>(workspace(), old, op, args, attrs, type_args, nullptr);
  }
  const Expr* MakeClosure(const LiftedLambda& lambda, const Node& old) {
    const Expr* captured = workspace().New<Tuple>(workspace().Copy(CapturedVars(lambda)), nullptr);
    return MakeCall(old, GetOp(op::kMakeClosure), workspace().arena().Copy<const Expr*>({lambda.name, captured}),
                    nullptr, nullptr);
  }
  const Expr* Invoke(const Call& old, const Var* closure, bool is_pure) {
    const Op* invoke = GetOp(is_pure ? op::kInvokePureClosure : op::kInvokeClosure);
    const Expr* args = workspace().New<Tuple>(VisitList(old.args), nullptr);
    const Type* const result[] = {old.type};
    return MakeCall(old, invoke, workspace().arena().Copy<const Expr*>({closure, args}), nullptr,
                    TupleType::Get(workspace().arena(), result));
  }

  // Puts the type of the function into the module, because calls in its body may need it.
  void Declare(const LiftedLambda& lambda, const Function& function) {
    std::vector<const Type*> params;
    for (const Var* param : AllParams(lambda, function)) params.push_back(param->type);
    const Type* type = FuncType::Get(workspace().arena(), params, function.ret_type, function.is_pure);
    Workspace own(module_);
    const auto* declared =
        own.New<Function>(List<const Var*>(), function.body, function.ret_type, function.is_pure, function.attrs, type);
    module_.Set(lambda.name, declared, own.Finish());
  }

  // Copies the function into new storage; it must not share nodes with the enclosing function.
  void Define(const LiftedLambda& lambda, const Function& function) {
    OpTypeInferrer inferrer(&module_, workspace().arena(), nullptr);
    const List<const Var*> params = workspace().Copy(AllParams(lambda, function));
    const Type* returned = inferrer.ReturnType(params, To<SeqExpr>(function.body)->body->type);
    const Function* whole = Rebuilder(workspace(), &inferrer, Retype::kIfNeeded)
                                .RebuildSignature(function, params, function.body, returned, function.attrs);
    Workspace own(module_);
    const BaseFunc* lifted = CloneFunction(whole, own, {.fresh_sym_vars = true});
    module_.Set(lambda.name, lifted, own.Finish());
  }

  Module& module_;
  const LambdaNames& names_;
  const LookupSet<const GlobalVar*>& changed_;  // functions of the module whose types changed
  std::vector<const LiftedLambda*> lambdas_;    // by Var::id: of the enclosing functions
};

}  // namespace

Result<Module> LambdaLift(Module module, DiagnosticEngine& diagnostics) {
  const std::optional<LambdaNames> names = NameLambdas(module, diagnostics);
  if (!names) return Failure{ErrorCode::PassFailed};
  if (names->empty()) return module;
  LookupSet<const GlobalVar*> changed;
  for (const size_t i : MakeCallGraph(module).post_order) {
    const ModuleEntry entry = module.functions()[i];
    if (!Is<Function>(entry.func)) continue;
    Workspace workspace(module, entry.storage);
    OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
    LambdaLifter lifter(module, *names, changed, workspace, inferrer);
    const auto* function = To<Function>(lifter.VisitExpr(entry.func));
    if (lifter.failed()) return Failure{ErrorCode::PassFailed};
    if (function == entry.func) continue;
    if (!TypeEqual(function->type, entry.func->type)) changed.insert(entry.var);
    module.SetAt(i, function, workspace.Finish());
  }
  return module;
}

Pass CreateLambdaLift(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) {
    return LambdaLift(std::move(module), context.diagnostics);
  });
}

}  // namespace iropt
