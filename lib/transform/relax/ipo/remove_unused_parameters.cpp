// RemoveUnusedParameters: removes unused parameters of private functions, and the arguments of their calls.
//
//   def main(x: R.Tensor(("n", 4)), y):           def main(x: R.Tensor(("n", 4)), y):
//       z = f(x, y)                                   z = f(y, R.prim_value(n))
//       return z                                      return z
//   def f(a: R.Tensor(("n", 4)), b):  # private   def f(b, param_n: R.Prim(value="n")):
//       return R.full(R.shape([n]), b)     -->        return R.full(R.shape([n]), b)
//
// If the type of such a parameter defines a symbolic variable that is still used, the variable becomes a parameter of
// its own. A function keeps its parameters if it has uses other than direct calls, or if a call does not determine such
// a variable. If a parameter was removed, all functions of the module lose their dead bindings, as in TVM: those that
// computed the arguments, and those that were dead before. Parameters that become unused by this stay until the pass
// runs again. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/analysis/relax/references.h"
#include "iropt/infer/call_binding.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/type_walk.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "transform/relax/util/change_signatures.h"

namespace iropt {

namespace {

// The parameters that a function keeps, and the new ones.
struct ParamPlan {
  std::vector<bool> kept = {};
  std::vector<const Var*> params = {};       // the parameters that are kept
  std::vector<const tir::Var*> passed = {};  // variables that become parameters
  std::vector<const Type*> old_types = {};   // of all parameters before
  bool removes_any() const { return params.size() != kept.size(); }
};

// The parameters that the body uses, and those that the types of such parameters refer to.
std::vector<bool> UsedParams(const Function& function) {
  LookupSet<const Var*> used;
  for (const Var* var : FreeVars(function.body)) used.insert(var);
  for (uint32_t i = function.params.size(); i-- > 0;) {
    if (!used.contains(function.params[i])) continue;
    ForEachShapeVar(function.params[i]->type, [&](const Var* var) { used.insert(var); });
  }
  std::vector<bool> kept;
  for (const Var* param : function.params) kept.push_back(used.contains(param));
  return kept;
}

// Symbolic variables that occur in the function outside of the types of removed parameters.
std::vector<const tir::Var*> NeededSymVars(const Function& function, const std::vector<const Var*>& params) {
  std::vector<const tir::Var*> needed = FreeSymVars(function.body);
  const auto add = [&](const std::vector<const tir::Var*>& vars) {
    needed.insert(needed.end(), vars.begin(), vars.end());
  };
  // A match_cast of a variable that was defined before checks it instead of defining it.
  add(BoundSymVars(function.body));
  for (const Var* param : params) add(SymVarsOf(param->type));
  if (function.ret_type) add(SymVarsOf(function.ret_type));
  return needed;
}

ParamPlan PlanParams(const Function& function) {
  ParamPlan plan{.kept = UsedParams(function), .old_types = TypesOf(function.params)};
  for (uint32_t i = 0; i < function.params.size(); ++i) {
    if (plan.kept[i]) plan.params.push_back(function.params[i]);
  }
  if (!plan.removes_any()) return plan;
  LookupSet<const tir::Var*> lost;
  for (const Type* type : plan.old_types) {
    for (const tir::Var* var : DefinedSymVars(type)) lost.insert(var);
  }
  for (const Var* param : plan.params) {
    for (const tir::Var* var : DefinedSymVars(param->type)) lost.erase(var);
  }
  // In reverse order, as in TVM.
  const std::vector<const tir::Var*> needed = NeededSymVars(function, plan.params);
  for (auto var = needed.rbegin(); var != needed.rend(); ++var) {
    if (lost.erase(*var) > 0) plan.passed.push_back(*var);
  }
  return plan;
}

const Function* ChangeParams(const Function& function, const ParamPlan& plan, Rebuilder& rebuilder) {
  std::vector<const Var*> params = plan.params;
  for (const tir::Var* var : plan.passed) {
    params.push_back(rebuilder.workspace().NewVar(fmt::format("param_{}", var->name), PrimType::Get(var)));
  }
  return rebuilder.RebuildSignature(function, params, function.body, function.ret_type);
}

// Adapts the calls of functions that have a plan.
class CallShortener : public ExprMutator {
 public:
  CallShortener(const Module& module, const std::vector<ParamPlan>& plans, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), module_(module), plans_(plans) {}

 protected:
  const Expr* VisitCall(const Call* call) override {
    const int index = CalleeIndex(module_, *call);
    if (index < 0 || !plans_[static_cast<size_t>(index)].removes_any()) return ExprMutator::VisitCall(call);
    const ParamPlan& plan = plans_[static_cast<size_t>(index)];
    std::vector<const Expr*> args;
    for (uint32_t i = 0; i < call->args.size(); ++i) {
      if (plan.kept[i]) args.push_back(VisitExpr(call->args[i]));
    }
    const SymVarMap values = BindSymVars(plan.old_types, TypesOf(call->args, module_));
    for (const tir::Var* var : plan.passed) {
      const PrimExpr* value = values.Find(var);
      args.push_back(workspace().New<PrimValue>(value, PrimType::Get(value)));
    }
    return builder().MakeCall(call->op, args, call->attrs, call->type_args);
  }

 private:
  const Module& module_;
  const std::vector<ParamPlan>& plans_;
};

// Plans for the functions that can change, empty ones for the others.
std::vector<ParamPlan> PlanParams(const Module& module, CalledFunctionsSource called_functions) {
  std::vector<ParamPlan> plans(module.size());
  for (size_t i = 0; i < module.size(); ++i) {
    const auto* function = As<Function>(module.functions()[i].func);
    if (function && !function->attrs->Find(attr::kGlobalSymbol)) plans[i] = PlanParams(*function);
  }
  const auto accepts = [&](size_t callee, const Call& call) {
    if (plans[callee].passed.empty()) return true;
    const SymVarMap values = BindSymVars(plans[callee].old_types, TypesOf(call.args, module));
    return std::ranges::all_of(plans[callee].passed, [&](const tir::Var* var) { return values.Find(var); });
  };
  const std::vector<bool> changeable = FunctionsWithOnlyDirectCalls(module, called_functions, accepts);
  for (size_t i = 0; i < module.size(); ++i) {
    if (!changeable[i]) plans[i] = {};
  }
  return plans;
}

Result<Module> RemoveUnusedParameters(Module module, ModulePassContext& context) {
  const std::vector<ParamPlan> plans = PlanParams(module, context.AnalysisSource<CalledFunctions>());
  std::vector<bool> changes;
  for (const ParamPlan& plan : plans) changes.push_back(plan.removes_any());
  ChangeFunctions(
      module, changes, context.context.threads,
      [&](size_t i, const Function& function, Rebuilder& rebuilder) {
        return ChangeParams(function, plans[i], rebuilder);
      },
      [&](const Function* function, Workspace& workspace, TypeInferrer& inferrer) {
        const auto* caller = To<Function>(CallShortener(module, plans, workspace, inferrer).VisitExpr(function));
        return RemoveDeadBindings(caller, &module, workspace);
      });
  return module;
}

}  // namespace

Pass CreateRemoveUnusedParameters(const PassOptions& options) {
  return CreateModulePass(options.info(), RemoveUnusedParameters);
}

}  // namespace iropt
