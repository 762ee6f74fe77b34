#include "binding_plan.h"

#include "iropt/infer/infer.h"
#include "iropt/ir/relax/rebuild.h"
#include "iropt/ir/relax/type_walk.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/rewrite_limit.h"
#include "transform/relax/lowering/kills.h"

namespace iropt {

const List<const PrimExpr*>* KnownDims(const Type* type) {
  if (const auto* shape = As<ShapeType>(type)) return shape->known ? &shape->values : nullptr;
  const auto* tensor = As<TensorType>(type);
  if (!tensor) return nullptr;
  if (tensor->known) return &tensor->dims;
  return tensor->shape_var ? KnownDims(tensor->shape_var->type) : nullptr;
}

const Constant* BindingPlan::constant(const Var* var) const {
  // A variable that gets another kind or name is canonical only afterwards; a further run replaces its uses.
  return definition(var) ? nullptr : As<Constant>(facts_[var->id].value);
}

class BindingPlanner : public WalkHandler {
 public:
  explicit BindingPlanner(Workspace& workspace) : workspace_(workspace), num_vars_(workspace.num_vars()) {
    plan_.facts_.resize(num_vars_);
  }

  BindingPlan Run(const Function& function) {
    Walk(function.body, *this);
    // The type of an output must refer only to variables that are visible outside of the block.
    for (const Var* output : outputs_) {
      if (Facts(output).used_outside)
        ForEachShapeVar(output->type, [&](const Var* v) { Facts(v).used_outside = true; });
    }
    for (const Var* output : outputs_) {
      if (!Facts(output).used_outside && AllowRewrite("localized-output", *output))
        Define(output, NewDataflowVar(output));
    }
    for (const Alias& alias : aliases_) PlanAlias(alias);
    for (const MatchCast* cast : casts_) PlanOutputCast(*cast);
    return std::move(plan_);
  }

  // ---- The walk

  void OnUse(const Var* var) {
    BindingPlan::VarFacts& facts = Facts(var);
    ++facts.uses;
    facts.used_outside |= !place_.in_dataflow || (facts.block != 0 && facts.block != place_.block);
  }
  void OnType(const Type* type) {
    ForEachShapeVar(type, [this](const Var* var) { OnUse(var); });
  }
  void OnCall(const Call& call) {
    OnType(call.type);
    if (!IsKill(call.op)) return;
    for (const Expr* arg : call.args) {
      if (const auto* var = As<Var>(arg)) Facts(var).is_killed = true;
    }
  }

  void OnBinding(const Binding& binding) {
    const Var* var = binding.var;
    const Expr* value = ValueOf(&binding);
    Facts(var).block = place_.block;
    const auto* cast = As<MatchCast>(&binding);
    TraceValue(*var, value, cast);
    if (cast) NoteCast(*cast);
    if (place_.in_dataflow && !var->is_dataflow()) outputs_.push_back(var);
  }

  void EnterBlock(const BindingBlock& block) { Enter({++num_blocks_, block.is_dataflow()}); }
  void LeaveBlock(const BindingBlock&) { Leave(); }
  bool EnterFunction(const Function&) {
    Enter({});
    return true;
  }
  void LeaveFunction(const Function&) { Leave(); }

 private:
  // A binding whose value is known to be that of an earlier variable.
  struct Alias {
    const Var* var;
    const Var* of;
    bool is_use;  // of that variable, not of one that has it
  };

  BindingPlan::VarFacts& Facts(const Var* var) { return plan_.facts_[var->id]; }

  // The position of the walk.
  struct Place {
    uint32_t block = 0;  // number of the block, 0 in the result of a function
    bool in_dataflow = false;
  };

  void Enter(Place place) {
    around_.push_back(place_);
    place_ = place;
  }
  void Leave() {
    place_ = around_.back();
    around_.pop_back();
  }

  // ---- Known values

  void TraceValue(const Var& var, const Expr* value, const MatchCast* cast) {
    const Expr* known = Trace(value);
    // A cast that fails at run time stays, and what uses its result is never reached.
    if (cast && known->type && TypeBaseCheck(var.type, known->type) == BaseCheck::kFailL0) return;
    // The operand of a cast may have a more general type than the cast.
    if (known != value && (!known->type || !IsBaseOf(var.type, known->type))) known = value;
    if (const auto* source = As<Var>(known)) {
      if (!cast || TypeEqual(var.type, known->type)) aliases_.push_back({&var, source, known == value});
      if (Facts(source).value) known = Facts(source).value;
    }
    if (known->kind == NodeKind::kConstant && !AllowRewrite("propagated-constant", var)) return;
    Facts(&var).value = known;
    plan_.has_constants_ |= known->kind == NodeKind::kConstant;
  }

  void NoteCast(const MatchCast& cast) {
    Facts(cast.var).is_cast = true;
    if (place_.in_dataflow && Is<Var>(cast.value)) casts_.push_back(&cast);
    ForEachSymbolicValue(cast.match_type, cast.value->type, [this](const tir::Var* var, const PrimExpr* value) {
      plan_.has_symbolic_values_ |= value != var;
    });
  }

  // The known value of a variable, through aliases and casts; other expressions stand for themselves.
  const Expr* KnownValue(const Expr* e) {
    const auto* var = As<Var>(e);
    const Expr* value = var ? Facts(var).value : nullptr;
    return value ? value : e;
  }

  // A projection of a known tuple is the field; a tuple of all projections of another one is that one. One step only:
  // the caller looks up the variables in the result.
  const Expr* Trace(const Expr* value) {
    if (const auto* item = As<TupleGetItem>(value)) {
      const auto* tuple = As<Tuple>(KnownValue(item->tuple));
      return tuple && static_cast<uint32_t>(item->index) < tuple->fields.size() ? tuple->fields[item->index] : value;
    }
    const auto* tuple = As<Tuple>(value);
    const Expr* source = tuple && !tuple->fields.empty() ? ProjectedTuple(*tuple) : nullptr;
    return source ? source : value;
  }

  // The tuple whose fields are all the fields of this one, in order; null if there is none.
  const Expr* ProjectedTuple(const Tuple& tuple) {
    const Expr* source = nullptr;
    for (uint32_t i = 0; i < tuple.fields.size(); ++i) {
      const auto* item = As<TupleGetItem>(KnownValue(tuple.fields[i]));
      if (!item || static_cast<uint32_t>(item->index) != i) return nullptr;
      const Expr* from = KnownValue(item->tuple);
      if (i == 0) {
        const auto* type = As<TupleType>(item->tuple->type);
        if (!type || type->fields.size() != tuple.fields.size()) return nullptr;
        source = from;
      } else if (from != source) {
        return nullptr;
      }
    }
    return source;
  }

  // ---- The plan

  // Aliases come in program order, so earlier ones are resolved. Uses of the variable become uses of its source. Only
  // if they would use a DataflowVar outside of its block, the source is bound under this name.
  void PlanAlias(const Alias& alias) {
    if (!AllowRewrite("replaced-alias", *alias.var)) return;
    const Var* source = alias.of;
    const Var* earlier = plan_.alias(source);
    if (earlier && earlier != source) source = earlier;
    // What a variable has is gone once it is killed; the other one still has it.
    if (Facts(source).is_killed || Facts(alias.var).is_killed) return;
    const Var* replaced = plan_.definition(source);
    const Var* bound = replaced ? replaced : source;
    // An alias without uses is dropped wherever its source can be seen.
    const bool is_visible =
        !bound->is_dataflow() || Facts(source).block == Facts(alias.var).block || Facts(alias.var).uses == 0;
    if (is_visible && (!bound->is_dataflow() || !Facts(alias.var).used_outside || alias.var->is_dataflow())) {
      SetAlias(alias.var, source);
      Facts(source).uses += Facts(alias.var).uses - alias.is_use;
    } else if (!alias.var->is_dataflow() && Facts(alias.var).used_outside) {
      Define(source, alias.var);
      SetAlias(alias.var, alias.var);
    }
  }

  // A cast that makes an output of a DataflowVar without other uses takes the value of the variable. Variables may have
  // become outputs or DataflowVars by now.
  void PlanOutputCast(const MatchCast& cast) {
    if (plan_.alias(cast.var) || Planned(cast.var)->is_dataflow()) return;
    const auto* source = To<Var>(cast.value);
    if (const Var* alias = plan_.alias(source)) source = alias;
    const BindingPlan::VarFacts& facts = Facts(source);
    if (!Planned(source)->is_dataflow() || facts.uses != 1 || facts.is_cast || plan_.constant(source)) return;
    if (!AllowRewrite("replaced-cast", cast)) return;
    Facts(source).moves = plan_.has_moves_ = true;
  }

  // The variable that is bound instead of `var`.
  const Var* Planned(const Var* var) const {
    const Var* planned = plan_.definition(var);
    return planned ? planned : var;
  }

  void SetAlias(const Var* var, const Var* of) {
    if (plan_.aliases_.empty()) plan_.aliases_.resize(num_vars_, nullptr);
    plan_.aliases_[var->id] = of;
  }
  void Define(const Var* var, const Var* as) {
    if (plan_.definitions_.empty()) plan_.definitions_.resize(num_vars_, nullptr);
    plan_.definitions_[var->id] = as;
  }

  const Var* NewDataflowVar(const Var* var) {
    return NewLike<DataflowVar>(workspace_, *var, var->name(), var->id, var->type);
  }

  Workspace& workspace_;
  const uint32_t num_vars_;
  BindingPlan plan_;
  std::vector<const Var*> outputs_;  // of dataflow blocks
  std::vector<Alias> aliases_;
  std::vector<const MatchCast*> casts_;  // of variables, in dataflow blocks
  Place place_;
  std::vector<Place> around_;
  uint32_t num_blocks_ = 0;
};

BindingPlan PlanBindings(const Function& function, Workspace& workspace) {
  return BindingPlanner(workspace).Run(function);
}

}  // namespace iropt
