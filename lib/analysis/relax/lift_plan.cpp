#include "iropt/analysis/relax/lift_plan.h"

#include <algorithm>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/ir/relax/type_walk.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/device.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

struct OperandFinder : WalkHandler {
  void OnUse(const Var* var) {
    if (!vars.insert(var).second) return;
    found.vars.push_back(var);
    OnType(var->type);
  }
  void OnDefine(const Var* var) { vars.insert(var); }
  void OnScalar(const PrimExpr* e) {
    if (e->has_sym_var()) Add(SymVarsOf(e));
  }
  void OnType(const Type* type) {
    if (!type) return;
    if (type->has_sym_var()) Add(SymVarsOf(type));
    ForEachShapeVar(type, [&](const Var* var) { OnUse(var); });
  }
  void OnDefiningType(const Type* type) {
    for (const tir::Var* var : DefinedSymVars(type)) dims.insert(var);
  }
  void Add(const std::vector<const tir::Var*>& more) {
    for (const tir::Var* var : more) {
      if (dims.insert(var).second) found.dims.push_back(var);
    }
  }

  Operands found;
  std::unordered_set<const Var*> vars;  // seen, or defined in the expression
  std::unordered_set<const tir::Var*> dims;
};

bool StopsLifting(const Expr* value) { return Is<ExternFunc>(value) || CallOf(value, op::kBuiltinStopLiftParams); }

}  // namespace

Operands OperandsOf(const Expr* e) {
  OperandFinder finder;
  Walk(e, finder);
  return std::move(finder.found);
}

void FindLiftable(const Function& function, uint32_t num_inputs, bool dims,
                  FunctionRef<bool(const Binding&, const Operands&)> take) {
  std::vector<bool> liftable;  // by Var::id
  const auto mark = [&](const Var* var) {
    if (var->id >= liftable.size()) liftable.resize(var->id + var->id / 2 + 16, false);
    liftable[var->id] = true;
  };
  const auto is_liftable = [&](const Var* var) { return var->id < liftable.size() && liftable[var->id]; };
  LookupSet<const tir::Var*> known_dims;
  for (const Var* weight : function.params.span().subspan(num_inputs)) {
    mark(weight);
    if (!dims) continue;
    for (const tir::Var* var : DefinedSymVars(weight->type)) known_dims.insert(var);
  }
  for (const BindingBlock* block : To<SeqExpr>(function.body)->blocks) {
    if (!block->is_dataflow()) continue;
    for (const Binding* binding : block->bindings) {
      const Expr* value = ValueOf(binding);
      if (StopsLifting(value)) continue;
      const Operands operands = OperandsOf(value);
      const Type* type = binding->var->type;
      const bool known = !type->has_sym_var() || std::ranges::all_of(SymVarsOf(type), [&](const tir::Var* var) {
        return known_dims.contains(var);
      });
      const bool can = known && std::ranges::all_of(operands.vars, is_liftable);
      if (can && take(*binding, operands)) mark(binding->var);
    }
  }
}

LiftPlan PlanLift(const Function& function, uint32_t num_inputs, size_t num_vars,
                  FunctionRef<bool(const Binding&)> accepts) {
  LiftPlan plan{{}, std::vector<bool>(num_vars, false), std::vector<bool>(num_vars, false), {}};
  for (const Var* weight : function.params.span().subspan(num_inputs)) plan.needs_weights[weight->id] = true;
  std::vector<bool> lifted(num_vars, false);
  FindLiftable(function, num_inputs, true, [&](const Binding& binding, const Operands& operands) {
    if (!accepts(binding)) return false;
    plan.lifted.push_back(&binding);
    lifted[binding.var->id] = true;
    plan.needs_weights[binding.var->id] =
        std::ranges::any_of(operands.vars, [&](const Var* var) { return plan.needs_weights[var->id]; });
    return true;
  });
  // Lifted values that do not depend on weights stay, too: computing them again costs less than storing them.
  std::unordered_set<const tir::Var*> dims;
  const auto use = [&](const Expr* e, bool uses_vars) {
    const Operands operands = OperandsOf(e);
    for (const Var* var : operands.vars) plan.at_runtime[var->id] = plan.at_runtime[var->id] || uses_vars;
    for (const tir::Var* dim : operands.dims) {
      if (dims.insert(dim).second) plan.dims_at_runtime.push_back(dim);
    }
  };
  const auto& body = *To<SeqExpr>(function.body);
  for (const BindingBlock* block : body.blocks) {
    for (const Binding* binding : block->bindings) {
      const Var* var = binding->var;
      const bool stays = !lifted[var->id];
      if (!stays && plan.needs_weights[var->id]) continue;
      if (stays) plan.at_runtime[var->id] = true;
      use(ValueOf(binding), stays);
    }
  }
  use(body.body, true);
  return plan;
}

}  // namespace iropt
