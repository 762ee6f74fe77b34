#include "param_lifter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bundle_model_params.h"
#include "iropt/analysis/relax/free_vars.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/substitute.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/device.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/simplify/canonicalize_bindings.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"

namespace iropt {

namespace {

// The function without the lifted bindings and the stop_lift_params markers.
class RuntimeMaker : public ExprMutator {
 public:
  RuntimeMaker(const LiftPlan& plan, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), is_dropped_(workspace.num_vars(), false) {
    for (const Binding* binding : plan.lifted) {
      if (plan.needs_weights[binding->var->id]) is_dropped_[binding->var->id] = true;
    }
  }

  void Replace(const Var* var, const Var* param) { Remap(var, param); }

  const Function* Run(const Function& old, const std::vector<const Var*>& params) {
    const bool is_same = std::ranges::equal(params, old.params);
    return To<Function>(VisitExpr(is_same ? &old : rebuilder().RebuildSignature(old, params, old.body, old.ret_type)));
  }

 protected:
  void VisitBinding(const Binding* binding) override {
    if (binding->var->id >= is_dropped_.size() || !is_dropped_[binding->var->id]) ExprMutator::VisitBinding(binding);
  }
  const Expr* VisitCall(const Call* call) override {
    return IsOp(call->op, op::kBuiltinStopLiftParams) ? VisitExpr(call->args[0]) : ExprMutator::VisitCall(call);
  }

 private:
  std::vector<bool> is_dropped_;  // by Var::id
};

template <class T>
void AppendDefined(const T& vars, std::vector<const tir::Var*>& dims) {
  for (const Var* var : vars) {
    for (const tir::Var* dim : DefinedSymVars(var->type)) {
      if (std::ranges::find(dims, dim) == dims.end()) dims.push_back(dim);
    }
  }
}

}  // namespace

ParamLifter::ParamLifter(const Module& module, std::vector<LiftTarget> targets, DiagnosticEngine& diagnostics)
    : module_(module), targets_(std::move(targets)), diagnostics_(diagnostics), workspace_(module) {
  for (size_t i = 0; i < targets_.size(); ++i) {
    cloners_.push_back(
        std::make_unique<Cloner>(workspace_, CloneOptions{.fresh_sym_vars = true, .copy_free_vars = true}));
  }
  for (const Var* weight : Weights(0)) params_.push_back(CopyOf(0, weight));
}

bool ParamLifter::Plan(bool shared) {
  for (size_t i = 1; i < targets_.size(); ++i) {
    if (!MatchWeights(i)) return false;
  }
  if (shared) FindShared();
  for (size_t i = 0; i < targets_.size(); ++i) {
    plans_.push_back(PlanLift(FunctionAt(i), targets_[i].num_inputs, Entry(i).storage->num_vars,
                              [&](const Binding& binding) { return !shared || shared_[i].contains(binding.var); }));
  }
  if (!shared) {
    for (const Binding* binding : plans_[0].lifted) lifted_.push_back(cloners_[0]->Clone(binding));
  }
  FindOutputs(shared);
  return true;
}

// The weights of all functions are those of the first one, up to the names of symbolic variables.
bool ParamLifter::MatchWeights(size_t i) {
  const auto first = Weights(0);
  const auto weights = Weights(i);
  if (first.size() != weights.size()) {
    diagnostics_.Error(Location(FunctionAt(i)), "pass-failed",
                       fmt::format("function '{}' has {} weights and function '{}' has {}, so they cannot share "
                                   "a transform function",
                                   Entry(0).var->name, first.size(), Entry(i).var->name, weights.size()));
    return false;
  }
  SymVarMap dims;
  for (size_t j = 0; j < weights.size(); ++j) {
    const std::vector<const tir::Var*> from = DefinedSymVars(weights[j]->type);
    const std::vector<const tir::Var*> to = DefinedSymVars(first[j]->type);
    for (size_t k = 0; k < std::min(from.size(), to.size()); ++k) {
      if (dims.Find(from[k])) continue;
      dims.Set(from[k], to[k]);
      cloners_[i]->Map(from[k], CopyOf(0, to[k]));
    }
  }
  for (size_t j = 0; j < weights.size(); ++j) {
    if (!TypeEqual(SubstituteSymVars(weights[j]->type, dims, &workspace_.arena()), first[j]->type)) {
      diagnostics_
          .Error(Location(*weights[j]), "pass-failed",
                 fmt::format("weight '{}' is {}, but '{}' at the same position in function '{}' is {}",
                             weights[j]->name(), TypeToString(weights[j]->type), first[j]->name(), Entry(0).var->name,
                             TypeToString(first[j]->type)))
          .Note(Location(*first[j]), "defined here");
      return false;
    }
    cloners_[i]->Map(weights[j], params_[j]);
  }
  return true;
}

// Values are equal if they are equal in terms of the weights. As in TVM, a value that a function computes twice counts
// twice, and is shared only if all functions compute it as often.
void ParamLifter::FindShared() {
  struct Value {
    const VarBinding* binding;
    size_t count;
  };
  std::vector<Value> values;
  LookupMultiMap<uint64_t, size_t> by_hash;
  std::vector<std::vector<std::pair<const Var*, size_t>>> found(targets_.size());
  for (size_t i = 0; i < targets_.size(); ++i) {
    FindLiftable(FunctionAt(i), targets_[i].num_inputs, false, [&](const Binding& binding, const Operands&) {
      if (!Is<VarBinding>(&binding)) return false;
      const Expr* value = cloners_[i]->Clone(ValueOf(&binding));
      const uint64_t hash = StructuralHash(value);
      const size_t* same =
          by_hash.FindIf(hash, [&](size_t other) { return StructuralEqual(values[other].binding->value, value); });
      const size_t index = same ? *same : values.size();
      if (!same) {
        by_hash.emplace(hash, index);
        const Var* var = workspace_.NewDataflowVar(binding.var->name(), cloners_[i]->Clone(binding.var->type));
        values.push_back({workspace_.New<VarBinding>(var, value), 0});
      }
      ++values[index].count;
      cloners_[i]->Map(binding.var, values[index].binding->var);
      found[i].emplace_back(binding.var, index);
      return true;
    });
  }
  LookupSet<const Var*> known(params_.begin(), params_.end());
  for (const Value& value : values) {
    const std::vector<const Var*> operands = OperandsOf(value.binding->value).vars;
    const bool is_shared = value.count == targets_.size() &&
                           std::ranges::all_of(operands, [&](const Var* var) { return known.contains(var); });
    if (!is_shared) continue;
    known.insert(value.binding->var);
    lifted_.push_back(value.binding);
  }
  shared_.resize(targets_.size());
  for (size_t i = 0; i < targets_.size(); ++i) {
    for (const auto& [var, index] : found[i]) {
      if (known.contains(values[index].binding->var)) shared_[i].insert(var);
    }
  }
}

// The outputs of the transform: first symbolic variables that nothing else defines, then unchanged weights, then values
// computed from them.
void ParamLifter::FindOutputs(bool shared) {
  LookupSet<const Var*> needed;
  LookupSet<const tir::Var*> needed_dims;
  for (size_t i = 0; i < targets_.size(); ++i) {
    const LiftPlan& plan = plans_[i];
    const auto note = [&](const Var* var) {
      if (plan.at_runtime[var->id] && plan.needs_weights[var->id]) needed.insert(CopyOf(i, var));
    };
    for (const Var* weight : Weights(i)) note(weight);
    for (const Binding* binding : plan.lifted) note(binding->var);
    for (const tir::Var* dim : plan.dims_at_runtime) needed_dims.insert(CopyOf(i, dim));
  }
  for (const Var* param : params_) {
    if (needed.contains(param)) outputs_.push_back(param);
  }
  for (const Binding* binding : lifted_) {
    if (needed.contains(binding->var)) outputs_.push_back(binding->var);
  }
  std::vector<const tir::Var*> defined;
  AppendDefined(outputs_, defined);
  if (!shared) {
    std::vector<const tir::Var*> of_inputs;
    AppendDefined(FunctionAt(0).params.span().first(targets_[0].num_inputs), of_inputs);
    for (const tir::Var* dim : of_inputs) defined.push_back(CopyOf(0, dim));
  }
  std::vector<const tir::Var*> of_weights;
  AppendDefined(params_, of_weights);
  for (const tir::Var* dim : of_weights) {
    if (needed_dims.contains(dim) && std::ranges::find(defined, dim) == defined.end()) dims_.push_back(dim);
  }
}

const Function* ParamLifter::MakeTransform() {
  OpTypeInferrer inferrer(&module_, workspace_.arena(), &diagnostics_);
  BlockBuilder builder(workspace_, &inferrer);
  builder.BeginDataflowBlock();
  for (const Binding* binding : lifted_) builder.EmitNormalized(binding);
  std::vector<const Expr*> fields;
  if (!dims_.empty()) {
    const std::vector<const PrimExpr*> dims(dims_.begin(), dims_.end());
    fields.push_back(workspace_.New<ShapeExpr>(workspace_.Copy(dims), ShapeType::Get(dims)));
  }
  for (const Var* output : outputs_)
    fields.push_back(builder.EmitOutput(output, fmt::format("{}_output", output->name())));
  const Expr* tuple = builder.EmitOutput(workspace_.New<Tuple>(workspace_.Copy(fields), nullptr), "output_tuple");
  const BindingBlock* block = builder.EndBlock();
  const DictAttr* attrs = DictAttr::Empty()->With(attr::kNumInput, IntAttr::Get(0));
  const Function* function =
      Checked(builder.MakeFunction(params_, builder.Seq({block}, builder.NormalizeArgument(tuple)), attrs), 0);
  if (!function || builder.failed()) return nullptr;
  function = BundleParams(*function, 0, "model_params", module_, workspace_, diagnostics_);
  const auto canonical = CanonicalizeBindings(function, &module_, workspace_, diagnostics_);
  return canonical ? RemoveDeadBindings(*canonical, &module_, workspace_) : nullptr;
}

const Function* ParamLifter::MakeRuntime(size_t i, Workspace& workspace) {
  const Function& function = FunctionAt(i);
  const LiftPlan& plan = plans_[i];
  OpTypeInferrer inferrer(&module_, workspace.arena(), &diagnostics_);
  RuntimeMaker maker(plan, workspace, inferrer);
  std::vector<const Var*> params(function.params.begin(), function.params.begin() + targets_[i].num_inputs);
  if (!dims_.empty()) {
    std::vector<const tir::Var*> own;
    AppendDefined(Weights(i), own);
    LookupMap<const tir::Var*, const tir::Var*> own_of;
    for (const tir::Var* dim : own) own_of.try_emplace(CopyOf(i, dim), dim);
    std::vector<const PrimExpr*> dims;
    for (const tir::Var* dim : dims_) dims.push_back(own_of.at(dim));
    params.push_back(workspace.NewVar("vars_from_compile_time_params", ShapeType::Get(dims)));
  }
  // Several variables of the function may have one value.
  LookupMap<const Var*, std::vector<const Var*>> own_of;
  const LookupSet<const Var*> weights(Weights(i).begin(), Weights(i).end());
  for (const Var* weight : Weights(i)) own_of[CopyOf(i, weight)].push_back(weight);
  for (const Binding* binding : plan.lifted) {
    if (plan.at_runtime[binding->var->id]) own_of[CopyOf(i, binding->var)].push_back(binding->var);
  }
  for (const Var* output : outputs_) {
    const std::vector<const Var*>& own = own_of[output];
    const Var* like = own.empty() ? output : own.front();
    params.push_back(weights.contains(like) ? like : workspace.NewVar(like->name(), like->type));
    for (const Var* var : own) {
      if (var != params.back()) maker.Replace(var, params.back());
    }
  }
  const Function* made = Checked(maker.Run(function, params), i);
  if (!made || maker.failed()) return nullptr;
  const auto canonical = CanonicalizeBindings(made, &module_, workspace, diagnostics_);
  return canonical ? *canonical : nullptr;
}

// The size of a weight may depend only on the inputs.
const Function* ParamLifter::Checked(const Function* function, size_t i) {
  const std::vector<const tir::Var*> unknown = FreeSymVars(function);
  if (unknown.empty()) return function;
  std::vector<std::string_view> names;
  names.reserve(unknown.size());
  for (const tir::Var* var : unknown) names.push_back(var->name);
  diagnostics_.Error(Location(FunctionAt(i)), "pass-failed",
                     fmt::format("the weights of function '{}' cannot be lifted: only its inputs define '{}'",
                                 Entry(i).var->name, fmt::join(names, "' and '")));
  return nullptr;
}

}  // namespace iropt
