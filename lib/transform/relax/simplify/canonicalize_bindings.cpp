// CanonicalizeBindings: propagates copies, and removes aliases and match_casts that are known to hold.
//
//   with R.dataflow():                                  with R.dataflow():
//       lv = R.add(x, x)                                    gv = R.add(x, x)
//       lv1 = R.match_cast(lv, R.Tensor((2, 3)))            gv1 = R.nn.relu(gv)
//       gv = lv                                    -->      R.output(gv, gv1)
//       t = (lv1, x)                                    return (gv, gv1)
//       gv1 = R.nn.relu(t[0])
//       R.output(gv, gv1)
//   return (gv, gv1)
//
// (and t, which has no uses any more: DeadCodeElimination removes it.)
//
//   - Symbolic variables that a match_cast gives a value are replaced by it (symbolic_values.h).
//   - `y = x` is removed, as are match_casts to the type that the value has, projections of known tuples, and tuples of
//     all the projections of another one. If y is visible outside of the dataflow block and x is not, x gets its name.
//     So is `y: R.Object = x`, as in TVM 0.18; its uses get the type of x.
//   - Uses of a variable that is bound to a constant become the constant.
//   - An output of a dataflow block that only the block uses becomes a DataflowVar.
//   - A match_cast that makes an output of a DataflowVar without other uses takes the value itself.
//
// One walk plans (binding_plan.h), one rewrites; types of expressions with changed operands are inferred again.
// O(operands). As in TVM 0.18's pass of this name, some cases wait for the next run: a variable that replaces another
// one is not known to be a constant yet, and an output that is a constant stays an output though its uses become
// constants.
#include "iropt/transform/relax/simplify/canonicalize_bindings.h"

#include "binding_plan.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/ir/substitute.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/statistic.h"
#include "transform/relax/params/symbolic_values.h"

namespace iropt {

namespace {

constexpr Statistic kRemovedBindings("CanonicalizeBindings", "removed-bindings",
                                     "aliases, casts and known values whose uses were replaced");

class BindingCanonicalizer : private ExprRewriter<BindingCanonicalizer> {
 public:
  BindingCanonicalizer(const BindingPlan& plan, const Module* module, Workspace& workspace, TypeInferrer& inferrer)
      : ExprRewriter(workspace, &inferrer, Retype::kCalls), plan_(plan), module_(module) {
    replacements_.resize(workspace.num_vars(), nullptr);
  }

  const Function* Run(const Function* function) { return Rebuild(*function, VisitExpr(function->body)); }
  uint64_t removed() const { return removed_; }

 private:
  friend class ExprRewriter<BindingCanonicalizer>;

  // ---- Bindings

  const Binding* VisitBinding(const Binding* binding) {
    const Var* alias = plan_.alias(binding->var);
    if (!alias && !plan_.moves(binding->var)) return Canonicalize(*binding);
    ++removed_;
    if (!alias) Replace(binding->var, VisitExpr(ValueOf(binding)));
    if (alias && alias != binding->var) Replace(binding->var, VisitVar(alias));
    return nullptr;
  }

  const Binding* Canonicalize(const Binding& binding) {
    const Expr* old_value = ValueOf(&binding);
    const Expr* value = VisitExpr(old_value);
    const Var* planned = plan_.definition(binding.var);
    const Var* var = planned ? planned : binding.var;
    const Type* type = VisitTypeOrNull(var->type);
    if (binding.kind == NodeKind::kVarBinding && (planned || value != old_value || type != var->type)) {
      // A declared type may be more general than the value's, or fit only the old value.
      type = TypeOfExpr(value, module_);
    }
    var = rebuilder().RetypeVar(var, type);
    if (planned) Replace(planned, var);
    if (var != binding.var) Replace(binding.var, var);
    if (const Constant* constant = plan_.constant(binding.var)) Replace(binding.var, constant);
    const auto* cast = As<MatchCast>(&binding);
    return Rebuild(binding, var, value, cast ? VisitType(cast->match_type) : nullptr);
  }

  // ---- Variables

  void Replace(const Var* var, const Expr* by) { replacements_[var->id] = by; }
  const Expr* VisitVar(const Var* var) const {
    const Expr* replacement = replacements_[var->id];
    return replacement ? replacement : var;
  }

  // Types change if a variable in them is the shape of a tensor.
  const Type* VisitType(const Type* type) {
    if (!type->has_shape_var()) return type;
    return MapShapeVars(type, workspace().arena(), [this](const Expr* var) {
      const Expr* replacement = VisitExpr(var);
      return Is<Var>(replacement) ? replacement : var;
    });
  }

  const BindingPlan& plan_;
  const Module* const module_;
  uint64_t removed_ = 0;                   // the number of bindings
  std::vector<const Expr*> replacements_;  // by Var::id: the replacement of uses; null if the variable stays
};

}  // namespace

Result<const Function*> CanonicalizeBindings(const Function* function, const Module* module, Workspace& workspace,
                                             DiagnosticEngine& diagnostics, uint64_t* removed) {
  BindingPlan plan = PlanBindings(*function, workspace);
  if (plan.has_symbolic_values() && AllowRewrite("substituted-symbolic-values", *function)) {
    IROPT_ASSIGN_OR_RETURN(function, SubstituteSymbolicValues(function, module, workspace, diagnostics));
    plan = PlanBindings(*function, workspace);
  }
  if (plan.empty()) return function;
  OpTypeInferrer inferrer(module, workspace.arena(), nullptr);
  BindingCanonicalizer canonicalizer(plan, module, workspace, inferrer);
  function = canonicalizer.Run(function);
  if (removed) *removed += canonicalizer.removed();
  return function;
}

Pass CreateCanonicalizeBindings(const PassOptions& options) {
  return CreateFunctionPass(options.info(), [](const Function* function, FunctionPassContext& context) {
    uint64_t removed = 0;
    Result<const Function*> result =
        CanonicalizeBindings(function, &context.module(), context.workspace(), context.diagnostics(), &removed);
    kRemovedBindings.Add(removed);
    return result;
  });
}

}  // namespace iropt
