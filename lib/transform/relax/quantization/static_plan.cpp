#include "static_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "iropt/analysis/relax/use_count.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/op/op.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/pooling.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/unary.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// Operators that only move or choose elements.
constexpr OpId kMovingOps[] = {op::kReshape,    op::kFlatten,     op::kPermuteDims, op::kSqueeze,
                               op::kExpandDims, op::kNnMaxPool1d, op::kNnMaxPool2d, op::kNnMaxPool3d};
// Others that runtimes compute on integers.
constexpr OpId kComputedOps[] = {op::kAdd, op::kNnAvgPool2d, op::kNnAdaptiveAvgPool2d, op::kMean, op::kConcat};

template <size_t kSize>
bool CallsAnyOf(const Call& call, const OpId (&ops)[kSize]) {
  const auto* op = As<Op>(call.op);
  return op != nullptr && std::ranges::find(ops, op->info->id) != std::end(ops);
}

// The bindings of a function in order.
class BindingList : public ExprVisitor {
 public:
  std::vector<const VarBinding*> bindings;
  LookupMap<const Var*, const Expr*> values;
  LookupMap<const Var*, std::vector<const Var*>> users;  // the variables of the bindings that use one

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    bindings.push_back(binding);
    values.try_emplace(binding->var, binding->value);
    current_ = binding->var;
    ExprVisitor::VisitVarBinding(binding);
    current_ = nullptr;
  }
  void VisitVar(const Var* var) override {
    if (current_ != nullptr) users[var].push_back(current_);
  }

 private:
  const Var* current_ = nullptr;
};

bool IsSingle(const Expr* expr) {
  const TensorType* type = TensorTypeOf(expr);
  return type != nullptr && type->dtype == DataType::Float(32);
}

// The constant of a bias, possibly with more axes.
const NDArray* BiasConstant(const Expr* operand, const BindingList& list) {
  const auto* var = As<Var>(operand);
  const Expr* value = var ? list.values.Lookup(var) : operand;
  const auto* call = value ? As<Call>(value) : nullptr;
  if (call && (IsOp(call->op, op::kExpandDims) || IsOp(call->op, op::kReshape))) value = call->args[0];
  const auto* constant = value ? As<Constant>(value) : nullptr;
  return constant ? constant->data : nullptr;
}

// Returns whether the operand has one number for each output of the layer, along the axis of the outputs.
bool IsBiasOf(const WeightSite& site, const Expr* operand, const NDArray& bias) {
  const TensorType* type = TensorTypeOf(operand);
  const TensorType* result = TensorTypeOf(site.call);
  if (bias.dtype() != DataType::Float(32) || bias.num_elements() != site.weight.outputs() || !type || !type->known ||
      result->ndim == kUnknownDim || type->ndim > result->ndim)
    return false;
  const int64_t axis = site.is_matmul ? result->ndim - 1 : 1;
  const int64_t own = axis - (result->ndim - type->ndim);
  for (int64_t i = 0; i < type->ndim; ++i) {
    const auto* size = As<tir::IntImm>(type->dims[static_cast<uint32_t>(i)]);
    if (size == nullptr || (i != own && size->value != 1)) return false;
  }
  return own >= 0;
}

// Returns whether the call limits its operand to numbers from 0 on, which integers without a sign do as well.
bool IsActivation(const Call& call) {
  if (IsOp(call.op, op::kNnRelu)) return true;
  if (!IsOp(call.op, op::kClip)) return false;
  const auto* least = As<PrimValue>(call.args[1]);
  const auto* number = least ? As<tir::FloatImm>(least->value) : nullptr;
  const auto* integer = least ? As<tir::IntImm>(least->value) : nullptr;
  return (number && number->value == 0) || (integer && integer->value == 0);
}

class LayerFinder {
 public:
  LayerFinder(const BindingList& list, const std::vector<uint32_t>& uses) : list_(list), uses_(uses) {}

  StaticLayer Find(const WeightSite& site) const {
    StaticLayer layer{.site = site};
    layer.sum = layer.result = site.result;
    const Var* user = OnlyUser(site.result);
    const auto* add = user ? As<Call>(list_.values.Lookup(user)) : nullptr;
    if (add && IsOp(add->op, op::kAdd)) {
      const Expr* other = add->args[add->args[0] == site.result ? 1 : 0];
      const NDArray* bias = BiasConstant(other, list_);
      if (bias && IsBiasOf(site, other, *bias)) {
        layer.add = add;
        layer.bias = bias;
        layer.sum = layer.result = user;
      }
    }
    const Var* activation = ActivationOf(layer.sum);
    if (activation) layer.result = activation;
    return layer;
  }

  // The activation of a value that nothing else uses; null if there is none.
  const Var* ActivationOf(const Var* var) const {
    const Var* user = OnlyUser(var);
    const auto* call = user && user->is_dataflow() ? As<Call>(list_.values.Lookup(user)) : nullptr;
    return call && IsActivation(*call) && call->args[0] == var ? user : nullptr;
  }

 private:
  const Var* OnlyUser(const Var* var) const {
    if (!var->is_dataflow() || uses_[var->id] != 1) return nullptr;
    const auto* users = list_.users.Find(var);
    return users && users->size() == 1 ? users->front() : nullptr;
  }

  const BindingList& list_;
  const std::vector<uint32_t>& uses_;
};

class StaticPlanner {
 public:
  StaticPlanner(const Function& function, const BindingList& list, const std::vector<uint32_t>& uses,
                const std::vector<StaticLayer>& layers)
      : function_(function), list_(list), finder_(list, uses), layers_(layers) {
    for (const StaticLayer& layer : layers) {
      wanted_.insert(To<Var>(layer.site.data));
      results_.try_emplace(layer.result, &layer);
      inner_.insert(layer.site.result);
      inner_.insert(layer.sum);
    }
  }

  std::vector<QuantizedTensor> Plan() {
    FindActivations();
    FindWanted();
    for (const Var* param : function_.params) Consider(param);
    for (const VarBinding* binding : list_.bindings) Consider(binding->var);
    return std::move(tensors_);
  }

 private:
  // The activations of results that are not those of layers.
  void FindActivations() {
    for (const VarBinding* binding : list_.bindings) {
      const auto* call = As<Call>(binding->value);
      if (!call || inner_.contains(binding->var) || !CallsAnyOf(*call, kComputedOps)) continue;
      const Var* activation = finder_.ActivationOf(binding->var);
      if (activation == nullptr) continue;
      before_activation_.try_emplace(activation, binding->var);
      inner_.insert(binding->var);
    }
  }

  // The operands that a result may be computed from as integers; nothing for other operators.
  std::optional<std::vector<const Expr*>> OperandsOf(const Var* result) const {
    const Var* var = before_activation_.Lookup(result);
    const Expr* value = list_.values.Lookup(var ? var : result);
    const auto* call = value ? As<Call>(value) : nullptr;
    if (!call || !IsSingle(result)) return std::nullopt;
    if (CallsAnyOf(*call, kMovingOps) || CallsAnyOf(*call, kComputedOps)) {
      if (IsOp(call->op, op::kAdd)) return std::vector<const Expr*>{call->args[0], call->args[1]};
      const auto* var_of_tuple = As<Var>(call->args[0]);
      const Expr* defined = var_of_tuple ? list_.values.Lookup(var_of_tuple) : call->args[0];
      const auto* tuple = defined ? As<Tuple>(defined) : nullptr;
      if (IsOp(call->op, op::kConcat)) {
        if (tuple == nullptr) return std::nullopt;
        return std::vector<const Expr*>(tuple->fields.begin(), tuple->fields.end());
      }
      return std::vector<const Expr*>{call->args[0]};
    }
    return std::nullopt;
  }

  // From the end on: what operators on integers compute wanted tensors from is wanted.
  void FindWanted() {
    for (size_t i = list_.bindings.size(); i-- > 0;) {
      const Var* var = list_.bindings[i]->var;
      if (!wanted_.contains(var) || results_.Find(var)) continue;
      const auto operands = OperandsOf(var);
      if (!operands) continue;
      for (const Expr* operand : *operands) {
        if (const auto* of = As<Var>(operand)) wanted_.insert(of);
      }
    }
  }

  bool IsQuantized(const Expr* expr) const { return Is<Var>(expr) && quantized_.Find(To<Var>(expr)) != nullptr; }

  void Consider(const Var* var) {
    if (!wanted_.contains(var) || inner_.contains(var) || !IsSingle(var)) {
      if (!results_.Find(var) || !wanted_.contains(var) || !IsSingle(var)) return;
    }
    const auto operands = OperandsOf(var);
    const bool comes_from_layer = results_.Find(var) != nullptr;
    const bool is_operand = std::ranges::any_of(layers_, [&](const StaticLayer& l) { return l.site.data == var; });
    const bool follows =
        operands && std::ranges::all_of(*operands, [&](const Expr* operand) { return IsQuantized(operand); });
    if (!comes_from_layer && !is_operand && !follows) return;
    const auto* call = As<Call>(list_.values.Lookup(var) ? list_.values.Lookup(var) : nullptr);
    const bool moves = follows && !comes_from_layer && call && CallsAnyOf(*call, kMovingOps);
    const Var* like = moves ? *quantized_.Find(To<Var>(operands->front())) : var;
    const auto* layer = results_.Find(var);
    const bool is_activation = layer ? (*layer)->result != (*layer)->sum : follows && before_activation_.Find(var);
    quantized_[var] = like;
    tensors_.push_back({var, like, is_activation});
  }

  const Function& function_;
  const BindingList& list_;
  LayerFinder finder_;
  const std::vector<StaticLayer>& layers_;
  LookupSet<const Var*> wanted_;
  LookupSet<const Var*> inner_;  // between the operators of a layer, or before an activation
  LookupMap<const Var*, const StaticLayer*> results_;
  LookupMap<const Var*, const Var*> before_activation_;
  LookupMap<const Var*, const Var*> quantized_;  // what their scales are those of
  std::vector<QuantizedTensor> tensors_;
};

}  // namespace

std::vector<StaticLayer> FindStaticLayers(const Function& function, uint32_t num_vars,
                                          const std::vector<WeightSite>& sites) {
  BindingList list;
  list.VisitExpr(&function);
  const std::vector<uint32_t> uses = UseCounts(function, num_vars);
  const LayerFinder finder(list, uses);
  std::vector<StaticLayer> layers;
  for (const WeightSite& site : sites) {
    const auto* data = As<Var>(site.data);
    const bool is_known =
        data && (list.values.Find(data) || std::ranges::find(function.params, data) != function.params.end());
    if (site.result && is_known && IsSingle(data)) layers.push_back(finder.Find(site));
  }
  return layers;
}

StaticPlan PlanStaticQuantization(const Function& function, uint32_t num_vars, std::vector<StaticLayer> layers) {
  BindingList list;
  list.VisitExpr(&function);
  StaticPlan plan{.layers = std::move(layers), .tensors = {}};
  plan.tensors = StaticPlanner(function, list, UseCounts(function, num_vars), plan.layers).Plan();
  return plan;
}

}  // namespace iropt
