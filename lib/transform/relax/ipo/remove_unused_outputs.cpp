// RemoveUnusedOutputs: removes fields of the result tuple of private functions that no call uses.
//
//   def main(x):                               def main(x):
//       t = f(x)                                   z = f(x)
//       z = t[0]                                   return z
//       return z                       -->
//   def f(a):  # private                       def f(a):
//       b = R.exp(a)                               b = R.exp(a)
//       c = R.sin(a)                               return b
//       return (b, c)
//
// A single remaining field replaces the tuple. A function with uses other than direct calls keeps its outputs, and all
// of them count as used if a call's result is used other than by a projection. CanonicalizeBindings and
// DeadCodeElimination run afterwards. Outputs that become unused by this stay until the pass runs again. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <vector>

#include "iropt/analysis/relax/references.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/relax/util/change_signatures.h"

namespace iropt {

namespace {

// The used outputs of a function. Empty for a function that keeps them all.
struct OutputPlan {
  std::vector<bool> used;
  size_t num_used = 0;
};

const TupleType* ResultTuple(const BaseFunc* function) {
  const auto* graph = As<Function>(function);
  return graph && graph->ret_type ? As<TupleType>(graph->ret_type) : nullptr;
}

// Finds the used fields of results, by the variables that calls are bound to.
class OutputUses : public WalkHandler {
 public:
  OutputUses(const Module& module, std::vector<OutputPlan>& plans) : module_(module), plans_(plans) {}

  void Run(const Function& function, const FuncStorage& storage) {
    result_of_.assign(storage.num_vars, -1);
    Walk(function, *this);
  }

  void OnBinding(const Binding& binding) {
    if (binding.kind == NodeKind::kVarBinding) result_of_[binding.var->id] = CalleeOf(ValueOf(&binding));
  }

  bool EnterItem(const TupleGetItem& item) {
    const auto* var = As<Var>(item.tuple);
    OutputPlan* plan = var ? PlanOf(var) : nullptr;
    if (plan) plan->used[static_cast<size_t>(item.index)] = true;
    return !plan;
  }

  // A use of a result as a whole uses all of its fields.
  void OnUse(const Var* var) {
    if (OutputPlan* plan = PlanOf(var)) plan->used.assign(plan->used.size(), true);
  }

 private:
  OutputPlan* PlanOf(const Var* var) const {
    const int index = result_of_[var->id];
    return index < 0 ? nullptr : &plans_[static_cast<size_t>(index)];
  }
  int CalleeOf(const Expr* value) const {
    const auto* call = As<Call>(value);
    const int index = call ? CalleeIndex(module_, *call) : -1;
    return index >= 0 && !plans_[static_cast<size_t>(index)].used.empty() ? index : -1;
  }

  const Module& module_;
  std::vector<OutputPlan>& plans_;
  std::vector<int> result_of_;  // by Var::id: the index of the function that it is the result of, or -1
};

// Plans for the functions that lose outputs, empty ones for the others.
std::vector<OutputPlan> PlanModule(const Module& module, CalledFunctionsSource called_functions) {
  std::vector<OutputPlan> plans(module.size());
  std::vector<bool> called(module.size(), false);
  const auto accepts = [&](size_t callee, const Call& call) {
    called[callee] = true;
    const TupleType* result = ResultTuple(module.functions()[callee].func);
    const auto* type = call.type ? As<TupleType>(call.type) : nullptr;
    return result && type && type->fields.size() == result->fields.size();
  };
  const std::vector<bool> changeable = FunctionsWithOnlyDirectCalls(module, called_functions, accepts);
  for (size_t i = 0; i < module.size(); ++i) {
    if (changeable[i] && called[i]) {
      plans[i].used.assign(ResultTuple(module.functions()[i].func)->fields.size(), false);
    }
  }
  OutputUses uses(module, plans);
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) uses.Run(*function, *entry.storage);
  }
  for (OutputPlan& plan : plans) {
    plan.num_used = static_cast<size_t>(std::ranges::count(plan.used, true));
    if (plan.num_used == plan.used.size()) plan = {};
  }
  return plans;
}

// The function with only its used outputs.
const Function* KeepOutputs(const Function& function, const OutputPlan& plan, Rebuilder& rebuilder) {
  Workspace& workspace = rebuilder.workspace();
  BlockBuilder builder(workspace, rebuilder.inferrer());
  const auto& seq = *To<SeqExpr>(function.body);
  const auto& ret_type = *To<TupleType>(function.ret_type);
  std::vector<const Expr*> outputs;
  std::vector<const Type*> types;
  builder.BeginBindingBlock();
  for (uint32_t i = 0; i < plan.used.size(); ++i) {
    if (!plan.used[i]) continue;
    outputs.push_back(builder.NormalizeArgument(TupleItem(seq.body, i, workspace)));
    types.push_back(ret_type.fields[i]);
  }
  std::vector<const BindingBlock*> blocks(seq.blocks.begin(), seq.blocks.end());
  blocks.push_back(builder.EndBlock());
  const Type* new_type = types.size() == 1 ? types[0] : TupleType::Get(workspace.arena(), types);
  const Expr* result = outputs.size() == 1 ? outputs[0] : workspace.New<Tuple>(workspace.Copy(outputs), new_type);
  const Expr* body = builder.Seq(blocks, result, seq.span());
  return rebuilder.RebuildSignature(function, function.params, body, new_type, function.attrs);
}

// Binds the remaining fields of results; the old variable becomes a tuple of which only these are projected.
class ResultRewriter : public ExprMutator {
 public:
  ResultRewriter(const Module& module, const std::vector<OutputPlan>& plans, Workspace& workspace,
                 TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), module_(module), plans_(plans) {}

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const OutputPlan* plan = PlanOf(binding->value);
    if (!plan) return ExprMutator::VisitVarBinding(binding);
    const auto& call = *To<Call>(binding->value);
    const Call* changed = builder().MakeCall(call.op, VisitList(call.args).span(), call.attrs, call.type_args);
    const bool is_local = binding->var->is_dataflow() || !builder().current_block_is_dataflow();
    const Var* result = EmitAs(is_local || plan->num_used > 1, changed, binding->var->name());
    if (fields_.size() <= binding->var->id) fields_.resize(binding->var->id + 1);
    std::vector<const Expr*>& fields = fields_[binding->var->id];
    int32_t next = 0;
    for (const bool used : plan->used) {
      fields.push_back(used ? Field(result, next++, plan->num_used, is_local) : nullptr);
    }
  }

  const Expr* VisitTupleGetItem(const TupleGetItem* item) override {
    const auto* var = As<Var>(item->tuple);
    if (!var || var->id >= fields_.size() || fields_[var->id].empty()) return ExprMutator::VisitTupleGetItem(item);
    return fields_[var->id][static_cast<size_t>(item->index)];
  }

 private:
  // `is_local`: not an output of a dataflow block.
  const Var* EmitAs(bool is_local, const Expr* value, std::string_view name) {
    return is_local ? builder().Emit(value, name) : builder().EmitOutput(value, name);
  }

  const Expr* Field(const Var* result, int32_t index, size_t num_used, bool is_local) {
    if (num_used == 1) return result;
    return EmitAs(is_local, TupleItem(result, static_cast<uint32_t>(index), workspace()), {});
  }

  const OutputPlan* PlanOf(const Expr* value) const {
    const auto* call = As<Call>(value);
    const int index = call ? CalleeIndex(module_, *call) : -1;
    return index >= 0 && !plans_[static_cast<size_t>(index)].used.empty() ? &plans_[static_cast<size_t>(index)]
                                                                          : nullptr;
  }

  const Module& module_;
  const std::vector<OutputPlan>& plans_;
  std::vector<std::vector<const Expr*>> fields_;  // by Var::id of the old result: the new values of its fields
};

Result<Module> RemoveUnusedOutputs(Module module, ModulePassContext& context) {
  const std::vector<OutputPlan> plans = PlanModule(module, context.AnalysisSource<CalledFunctions>());
  std::vector<bool> changes;
  for (const OutputPlan& plan : plans) changes.push_back(!plan.used.empty());
  ChangeFunctions(
      module, changes, context.context.threads,
      [&](size_t i, const Function& function, Rebuilder& rebuilder) {
        return KeepOutputs(function, plans[i], rebuilder);
      },
      [&](const Function* function, Workspace& workspace, TypeInferrer& inferrer) {
        return To<Function>(ResultRewriter(module, plans, workspace, inferrer).VisitExpr(function));
      });
  return CleanUp(std::move(module), context);
}

}  // namespace

Pass CreateRemoveUnusedOutputs(const PassOptions& options) {
  return CreateModulePass(options.info(), RemoveUnusedOutputs);
}

}  // namespace iropt
