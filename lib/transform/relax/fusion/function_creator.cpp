#include "function_creator.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/ir/relax/normalizer.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/op_groups.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

constexpr std::string_view kPrefix = "fused_";

bool IsKnownScalar(const PrimExpr* e) { return !e->has_sym_var(); }

// A scalar, a shape or a tuple of these whose value is known: the new function contains it.
bool IsKnown(const Expr* e) {
  if (const auto* scalar = As<PrimValue>(e)) return IsKnownScalar(scalar->value);
  if (const auto* shape = As<ShapeExpr>(e)) return std::ranges::all_of(shape->values, IsKnownScalar);
  const auto* tuple = As<Tuple>(e);
  return tuple && WithStack([&] { return std::ranges::all_of(tuple->fields, IsKnown); });
}

struct KnownValueCollector : WalkHandler {
  KnownValues known;
  void OnBinding(const Binding& binding) {
    const auto* bound = As<VarBinding>(&binding);
    if (!bound) return;
    const auto* source = As<Var>(bound->value);
    const auto found = source ? known.find(source) : known.end();
    if (found != known.end()) {
      known.emplace(binding.var, found->second);
    } else if (IsKnown(bound->value)) {
      known.emplace(binding.var, bound->value);
    }
  }
};

}  // namespace

KnownValues KnownValuesOf(const Function& function) {
  KnownValueCollector collector;
  Walk(function, collector);
  return std::move(collector.known);
}

void FunctionCreator::AppendName(const Expr* callee) {
  if (const auto* op = As<Op>(callee)) {
    name_ += fmt::format("_{}", op->name);
  } else if (const auto* global = As<GlobalVar>(callee)) {
    const bool is_fused = global->name.starts_with(kPrefix);
    name_ += fmt::format("_{}", is_fused ? global->name.substr(kPrefix.size()) : global->name);
  }
}

FunctionCreator::Parameter* FunctionCreator::Use(const Expr* operand) {
  if (const auto found = param_of_.find(operand); found != param_of_.end()) return &params_[found->second];
  const auto* var = As<Var>(operand);
  if (var ? bound_.contains(var) : Is<Constant>(operand) && !lift_constants_) return nullptr;
  if (var && known_.contains(var)) return nullptr;
  std::string name(var ? std::string(var->name()) : fmt::format("param_{}", num_unnamed_++));
  if (IsKnown(operand)) return nullptr;
  if (const auto* tuple = As<Tuple>(operand)) {
    const auto is_bound = [this](const Expr* field) { return Is<Var>(field) && bound_.contains(To<Var>(field)); };
    if (std::ranges::any_of(tuple->fields, is_bound)) {
      for (const Expr* field : tuple->fields) Use(field);
      return nullptr;
    }
  }
  param_of_.emplace(operand, params_.size());
  params_.push_back({.arg = operand, .name = std::move(name), .only_items = Is<TupleType>(operand->type)});
  return &params_.back();
}

void FunctionCreator::UseWhole(const Expr* operand) {
  if (Parameter* param = Use(operand)) param->only_items = false;
}

void FunctionCreator::UseOfOperator(const Expr* operand) {
  const auto* tuple = splits_tuples_ && !IsKnown(operand) ? As<Tuple>(operand) : nullptr;
  if (!tuple) return UseWhole(operand);
  for (const Expr* field : tuple->fields) WithStack([&] { UseOfOperator(field); });
}

void FunctionCreator::Append(const VarBinding* binding) {
  if (const auto* call = As<Call>(binding->value)) {
    const auto* op = As<Op>(call->op);
    const bool is_call_tir = op && IsCallTir(op->id) && Is<Tuple>(call->args[1]);
    AppendName(is_call_tir ? call->args[0] : call->op);
    for (const Expr* arg : is_call_tir ? To<Tuple>(call->args[1])->fields : call->args) {
      if (Is<Op>(arg) || Is<GlobalVar>(arg) || Is<ExternFunc>(arg)) continue;
      is_call_tir ? UseWhole(arg) : UseOfOperator(arg);
    }
  } else if (const auto* item = As<TupleGetItem>(binding->value)) {
    Parameter* param = Use(item->tuple);
    if (param && param->only_items && std::ranges::find(param->items, item->index) == param->items.end())
      param->items.push_back(item->index);
  } else if (const auto* tuple = As<Tuple>(binding->value)) {
    for (const Expr* field : tuple->fields) UseWhole(field);
  } else if (Is<Var>(binding->value)) {
    UseWhole(binding->value);
  }
  bound_.insert(binding->var);
  bindings_.push_back(binding);
}

void FunctionCreator::AddOutput(const Var* var) {
  if (is_output_.insert(var)) outputs_.push_back(var);
}

// The function under construction, whose nodes still refer to the types of the old one.
class FunctionCreator::Body {
 public:
  explicit Body(const FunctionCreator& creator)
      : creator_(creator),
        inferrer_(nullptr, workspace_.arena(), nullptr),
        builder_(workspace_, &inferrer_),
        rebuilder_(workspace_, nullptr, Retype::kNever) {}

  FusedFunction Create(const DictAttr* attrs) {
    FusedFunction result{.name = creator_.name_};
    AddParams(result.args);
    builder_.BeginDataflowBlock();
    for (const VarBinding* binding : creator_.bindings_) AddBinding(*binding);
    const SeqExpr* body = builder_.Seq({builder_.EndBlock()}, Results());
    const DictAttr* all_attrs = attrs->With(attr::kPrimitive, IntAttr::Get(1));
    const Function* function = builder_.MakeFunction(params_, body, all_attrs);
    result.sym_vars = FreeSymVars(function);
    if (!result.sym_vars.empty()) {
      const std::vector<const PrimExpr*> values(result.sym_vars.begin(), result.sym_vars.end());
      params_.push_back(workspace_.NewVar("tir_vars", ShapeType::Get(values)));
      function = builder_.MakeFunction(params_, body, all_attrs);
    }
    Workspace own;
    result.function = To<Function>(CloneFunction(function, own, {.fresh_sym_vars = true}));
    result.storage = own.Finish();
    return result;
  }

 private:
  void AddParams(std::vector<FusedArgument>& args) {
    for (const Parameter& param : creator_.params_) {
      first_param_.push_back(params_.size());
      if (!param.only_items) {
        params_.push_back(workspace_.NewVar(param.name, param.arg->type));
        args.push_back({param.arg});
        continue;
      }
      for (const int32_t item : param.items) {
        const Type* type = To<TupleType>(param.arg->type)->fields[static_cast<size_t>(item)];
        params_.push_back(workspace_.NewVar(fmt::format("{}_{}", param.name, item), type));
        args.push_back({param.arg, item});
      }
    }
  }

  void AddBinding(const VarBinding& binding) {
    if (const auto* item = As<TupleGetItem>(binding.value)) {
      if (const Var* param = ParamOfItem(*item)) {
        vars_.try_emplace(binding.var, param);
        return;
      }
    }
    const auto map = [this](const Expr* operand) { return MapOperand(operand); };
    const Expr* value =
        Is<Var>(binding.value) ? MapOperand(binding.value) : MapOperands(binding.value, rebuilder_, map);
    const bool is_output = creator_.is_output_.contains(binding.var);
    const Var* var = is_output ? static_cast<const Var*>(workspace_.NewVar(OutputName(), binding.var->type))
                               : workspace_.NewDataflowVar(binding.var->name(), binding.var->type);
    builder_.EmitNormalized(NewLike<VarBinding>(workspace_, binding, var, value));
    vars_.try_emplace(binding.var, var);
  }

  // The parameter that an item of a tuple has become; null if the tuple as a whole is a parameter or bound here.
  const Var* ParamOfItem(const TupleGetItem& get) const {
    const auto found = creator_.param_of_.find(get.tuple);
    if (found == creator_.param_of_.end()) return nullptr;
    const Parameter& param = creator_.params_[found->second];
    if (!param.only_items) return nullptr;
    const auto item = std::ranges::find(param.items, get.index);
    return params_[first_param_[found->second] + static_cast<size_t>(item - param.items.begin())];
  }

  const Expr* MapOperand(const Expr* operand) {
    if (const auto found = creator_.param_of_.find(operand); found != creator_.param_of_.end())
      return params_[first_param_[found->second]];
    if (const auto* var = As<Var>(operand)) {
      const auto* bound = vars_.Find(var);
      return bound ? *bound : creator_.known_.at(var);
    }
    const auto* tuple = As<Tuple>(operand);
    if (!tuple) return operand;
    return WithStack([&] {
      const auto map = [this](const Expr* field) { return MapOperand(field); };
      return rebuilder_.Rebuild(*tuple, MapList(tuple->fields, workspace_, map));
    });
  }

  const Expr* Results() {
    std::vector<const Expr*> results;
    std::vector<const Type*> types;
    for (const Var* var : creator_.outputs_) {
      results.push_back(vars_.at(var));
      types.push_back(results.back()->type);
    }
    if (results.size() == 1) return results.front();
    return workspace_.New<Tuple>(workspace_.Copy(results), TupleType::Get(workspace_.arena(), types));
  }

  std::string_view OutputName() { return builder_.UniqueName("gv"); }

  const FunctionCreator& creator_;
  Workspace workspace_;
  OpTypeInferrer inferrer_;
  BlockBuilder builder_;
  Rebuilder rebuilder_;
  std::vector<const Var*> params_;
  std::vector<size_t> first_param_;         // by index of the parameter of the creator
  LookupMap<const Var*, const Var*> vars_;  // the variables that replace the old ones
};

FusedFunction FunctionCreator::Create(const DictAttr* attrs) const { return Body(*this).Create(attrs); }

}  // namespace iropt
