#include "relay_scale_axis.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "iropt/analysis/relax/overwritten_vars.h"
#include "iropt/analysis/relax/use_count.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/layout.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/repeat.h"
#include "iropt/infer/ops/reshape.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "scale_axis.h"
#include "transform/relax/util/operand_order.h"
#include "transform/relax/util/relay_bias.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// Form that a factor must have: one number for each position along these axes.
struct AxesMessage {
  std::vector<int64_t> axes;
  bool positive = false;
  bool nonzero = false;
};
using MaybeMessage = std::optional<AxesMessage>;

// Conversion of an operand to a vector along axes: by removing others, or by repeating a number.
struct VectorForm {
  std::vector<int64_t> squeezed = {};
  std::vector<int64_t> repeats = {};
};

// Axes along which an operator has weights: those of its data or result, and those of the weight. A dense weight is the
// operand of a permute_dims.
struct WeightPlace {
  std::vector<int64_t> tensor;
  std::vector<int64_t> weight;
  const Call* transpose = nullptr;
};

bool IsConvolution(const Call& call) { return IsOp(call.op, op::kNnConv2d) || IsOp(call.op, op::kNnConv3d); }

// The axes of a letter, and of its part; nothing if the layout has the letter not at all.
std::optional<std::vector<int64_t>> AxesOf(const Layout& layout, char letter) {
  const int whole = layout.IndexOf(letter);
  const int part = layout.IndexOf(static_cast<char>(letter - 'A' + 'a'));
  if (whole < 0) return std::nullopt;
  return part < 0 ? std::vector<int64_t>{whole} : std::vector<int64_t>{whole, part};
}

// The size of an axis; -1 if it is not a number.
int64_t SizeOf(const TensorType& tensor, int64_t axis) {
  const int64_t* size = tensor.known ? arith::AsInt(tensor.dims[static_cast<uint32_t>(axis)]) : nullptr;
  return size ? *size : -1;
}

// The operations of a function in program order, and what they are to Relay.
class RelayScales {
 public:
  RelayScales(const Function& function, uint32_t num_vars) : uses_(UseCounts(function, num_vars)) {
    struct Collector : WalkHandler {
      RelayScales& scales;
      const BindingBlock* block = nullptr;
      explicit Collector(RelayScales& s) : scales(s) {}
      void EnterBlock(const BindingBlock& entered) { block = &entered; }
      void LeaveBlock(const BindingBlock&) { block = nullptr; }
      void OnBinding(const Binding& binding) {
        const auto* bound = As<VarBinding>(&binding);
        const auto* call = bound ? As<Call>(bound->value) : nullptr;
        if (!call || !Is<Op>(call->op) || !block || !block->is_dataflow()) return;
        scales.operations_.push_back(bound);
        scales.calls_.try_emplace(bound->var, call);
        scales.biases_.Add(*bound->var, *call);
      }
    };
    Collector collector(*this);
    Walk(function, collector);
  }

  const std::vector<const VarBinding*>& operations() const { return operations_; }
  uint32_t Uses(const Var* var) const { return uses_[var->id]; }
  bool IsBias(const Call& call) const { return biases_.IsBias(call); }
  const Call* CallOf(const Expr* expr) const { return calls_.Lookup(expr); }

  // The weights of a convolution or a matrix product: the input channels with the data, or the output channels
  // with the result.
  std::optional<WeightPlace> WeightsOf(const Call& call, bool of_input) const {
    std::optional<WeightPlace> place;
    if (IsConvolution(call)) place = ConvWeights(call, of_input);
    if (IsOp(call.op, op::kMatmul)) place = DenseWeights(call, of_input);
    const TensorType* tensor = TensorTypeOf(of_input ? call.args[0] : &call);
    if (!place || !tensor || !tensor->known || !tensor->dtype.is_floating()) return std::nullopt;
    const bool sized = std::ranges::all_of(place->tensor, [&](int64_t axis) { return SizeOf(*tensor, axis) > 0; });
    return sized ? place : std::nullopt;
  }

  // Finds the conversion of the operand to a vector along the axes of the tensor; nothing if it varies along others.
  static std::optional<VectorForm> FormOf(const Expr* operand, const Expr* tensor, const AxesMessage& message) {
    const TensorType* large = TensorTypeOf(tensor);
    const TensorType* own = TensorTypeOf(operand);
    if (!large || !own || !large->known || !own->known || own->ndim > large->ndim || own->dtype != large->dtype)
      return std::nullopt;
    VectorForm form;
    if (own->ndim == 0) {
      for (const int64_t axis : message.axes) form.repeats.push_back(SizeOf(*large, axis));
      return form;
    }
    const int64_t base = large->ndim - own->ndim;
    for (int64_t axis = 0; axis < large->ndim; ++axis) {
      const bool named = std::ranges::find(message.axes, axis) != message.axes.end();
      const int64_t size = axis < base ? -1 : SizeOf(*own, axis - base);
      if (named && (size < 0 || size != SizeOf(*large, axis))) return std::nullopt;
      if (named || axis < base) continue;
      if (size != 1) return std::nullopt;
      form.squeezed.push_back(axis - base);
    }
    return form;
  }

  // Returns whether the factor is what the message asks for; one that is computed at run time can be anything.
  bool Fits(const Expr* factor, const AxesMessage& message) const {
    if (!message.positive && !message.nonzero) return true;
    while (const Call* call = CallOf(factor)) {
      constexpr OpId kViews[] = {op::kExpandDims, op::kReshape, op::kSqueeze, op::kPermuteDims, op::kRepeat};
      if (std::ranges::find(kViews, To<Op>(call->op)->id) == std::end(kViews)) return false;
      factor = call->args[0];
    }
    const auto* constant = As<Constant>(factor);
    return constant &&
           iropt::Fits(constant->data->shared_from_this(), {.positive = message.positive, .nonzero = message.nonzero});
  }

 private:
  static std::optional<WeightPlace> ConvWeights(const Call& call, bool of_input) {
    const ConvAttrs attrs(call);
    const std::string_view out = attrs.out_layout().empty() ? attrs.data_layout() : attrs.out_layout();
    const std::optional<Layout> data = Layout::Parse(of_input ? attrs.data_layout() : out);
    const std::optional<Layout> kernel = Layout::Parse(attrs.kernel_layout());
    const TensorType* weight = TensorTypeOf(call.args[1]);
    if (!data || !kernel || !weight || !weight->known || weight->ndim != kernel->ndim()) return std::nullopt;
    const auto input = AxesOf(*kernel, 'I');
    const auto output = AxesOf(*kernel, 'O');
    const auto channels = AxesOf(*data, 'C');
    if (!input || !output || !channels || input->size() != channels->size() || output->size() != channels->size())
      return std::nullopt;
    const auto product = [&](const std::vector<int64_t>& axes) {
      int64_t size = 1;
      for (const int64_t axis : axes) size *= SizeOf(*weight, axis);
      return size;
    };
    const bool depthwise = attrs.groups() != 1 && product(*input) == 1 && product(*output) == attrs.groups();
    if (attrs.groups() != 1 && !depthwise) return std::nullopt;
    return WeightPlace{*channels, of_input && !depthwise ? *input : *output};
  }

  // In Relay the weight of nn.dense has the outputs first.
  std::optional<WeightPlace> DenseWeights(const Call& call, bool of_input) const {
    const TensorType* data = TensorTypeOf(call.args[0]);
    const TensorType* weight = TensorTypeOf(call.args[1]);
    if (!data || !weight || !weight->known || data->ndim != 2 || weight->ndim != 2) return std::nullopt;
    const Call* transpose = CallOf(call.args[1]);
    const bool is_transposed =
        transpose && IsOp(transpose->op, op::kPermuteDims) && PermutationOf(*transpose) == ExchangeLastTwo(2);
    if (is_transposed) return WeightPlace{{1}, {of_input ? 1 : 0}, transpose};
    return WeightPlace{{1}, {of_input ? 0 : 1}};
  }

  std::vector<const VarBinding*> operations_;
  LookupMap<const Expr*, const Call*> calls_;
  std::vector<uint32_t> uses_;  // by Var::id
  BiasTable biases_;
};

// Makes the operations on factors.
class ScaleMaker {
 public:
  explicit ScaleMaker(BlockBuilder& builder) : builder_(builder) {}

  // The operand as a vector.
  const Expr* Vector(const Expr* operand, const VectorForm& form) {
    OpBuilder make(builder_);
    if (!form.repeats.empty()) {
      std::vector<int64_t> axes;
      for (size_t i = 0; i < form.repeats.size(); ++i) axes.push_back(static_cast<int64_t>(i));
      operand = builder_.Emit(op::ExpandDims(make, operand, {.axis = axes}));
      for (size_t i = 0; i < form.repeats.size(); ++i) {
        operand =
            builder_.Emit(op::Repeat(make, operand, {.repeats = form.repeats[i], .axis = static_cast<int64_t>(i)}));
      }
    } else if (!form.squeezed.empty()) {
      operand = builder_.Emit(op::Squeeze(make, operand, {.axis = form.squeezed}));
    }
    return operand;
  }

  // The vector along these axes of a tensor: with axes after it, or, if it has several, reshaped.
  const Expr* Along(const Expr* vector, const TensorType& tensor, const std::vector<int64_t>& axes) {
    OpBuilder make(builder_);
    if (axes.size() > 1) {
      std::vector<const PrimExpr*> dims;
      for (int64_t i = 0; i < tensor.ndim; ++i) {
        const bool named = std::ranges::find(axes, i) != axes.end();
        dims.push_back(named ? tensor.dims[static_cast<uint32_t>(i)] : IRContext::Current().Int(1));
      }
      return builder_.Emit(op::Reshape(make, vector, make.MakeShape(dims)));
    }
    std::vector<int64_t> behind;
    for (int64_t i = axes[0] + 1; i < tensor.ndim; ++i) behind.push_back(static_cast<int64_t>(behind.size()) + 1);
    return behind.empty() ? vector : builder_.Emit(op::ExpandDims(make, vector, {.axis = behind}));
  }

  // The call with its weight multiplied.
  const Expr* WithWeight(const Call& call, const WeightPlace& place, const Expr* data, const Expr* weight,
                         const Expr* vector) {
    OpBuilder make(builder_);
    const Expr* factor = Along(vector, *TensorTypeOf(weight), place.weight);
    const Expr* scaled = builder_.Emit(op::Multiply(make, weight, factor));
    if (place.transpose) scaled = builder_.Emit(make.Make(op::kPermuteDims, {scaled}, place.transpose->attrs));
    return make.Make(To<Op>(call.op)->id, {data, scaled}, call.attrs);
  }

 private:
  BlockBuilder& builder_;
};

const Expr* WeightOf(const Call& call, const WeightPlace& place) {
  return place.transpose ? place.transpose->args[0] : call.args[1];
}

// ---- Forward

class RelayForward : public ExprMutator {
 public:
  RelayForward(const RelayScales& scales, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), scales_(scales), make_(builder()) {
    const std::vector<const VarBinding*>& operations = scales.operations();
    for (size_t i = operations.size(); i-- > 0;) Ask(operations[i]->var, *To<Call>(operations[i]->value));
  }

  bool found() const { return !messages_.empty(); }

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const Call* call = scales_.CallOf(binding->var);
    if (!call) return ExprMutator::VisitVarBinding(binding);
    if (IsOp(call->op, op::kMultiply) && TakeFactor(binding->var, *call)) return;
    const auto place = scales_.WeightsOf(*call, /*of_input=*/true);
    if (place && IsScaled(call->args[0])) {
      const Scaled& data = scaled_.at(call->args[0]);
      const Expr* weight = VisitExpr(WeightOf(*call, *place));
      return ReEmitBinding(binding,
                           builder().Normalize(make_.WithWeight(*call, *place, data.value, weight, data.vector)));
    }
    if (IsScalable(*call) && Carry(binding->var, *call)) return;
    ExprMutator::VisitVarBinding(binding);
  }

 private:
  // A value that the program's value is a multiple of.
  struct Scaled {
    const Expr* value;
    const Expr* vector;
    std::vector<int64_t> axes;
  };
  struct Requests {
    MaybeMessage message = {};
    uint32_t count = 0;
  };

  static bool IsScalable(const Call& call) {
    return IsScalableActivation(To<Op>(call.op)->id) || IsSum(To<Op>(call.op)->id);
  }

  // The message that all uses agree on.
  MaybeMessage MessageOf(const Var* var) const {
    const auto* found = messages_.Find(var);
    if (!found || found->count != scales_.Uses(var)) return std::nullopt;
    return found->message;
  }

  void Send(const Expr* operand, const AxesMessage& message) {
    if (!scales_.CallOf(operand)) return;
    Requests& requests = messages_[operand];
    if (requests.count > 0 && requests.message->axes != message.axes) return;
    if (requests.count++ == 0) {
      requests.message = message;
    } else {
      requests.message->positive |= message.positive;
      requests.message->nonzero |= message.nonzero;
    }
  }

  void Ask(const Var* var, const Call& call) {
    if (const auto place = scales_.WeightsOf(call, /*of_input=*/true)) return Send(call.args[0], {place->tensor});
    MaybeMessage message = MessageOf(var);
    if (!message || !IsScalable(call) || scales_.IsBias(call)) return;
    if (!IsSum(To<Op>(call.op)->id)) {
      message->positive = true;
      return Send(call.args[0], *message);
    }
    message->nonzero = true;
    if (const int data = DataOf(call, *message); data >= 0) Send(call.args[static_cast<uint32_t>(data)], *message);
  }

  // The operand of a sum that the other one is broadcast to, as a vector along the axes; -1 if there is none.
  static int DataOf(const Call& call, const AxesMessage& message) {
    for (const int data : {0, 1}) {
      const Expr* own = call.args[static_cast<uint32_t>(data)];
      const Expr* other = call.args[static_cast<uint32_t>(1 - data)];
      if (RelayScales::FormOf(other, own, message) && TensorTypeOf(other)->ndim > 0) return data;
    }
    return -1;
  }

  bool TakeFactor(const Var* var, const Call& call) {
    const MaybeMessage message = MessageOf(var);
    if (!message) return false;
    for (const uint32_t factor : {1U, 0U}) {
      const auto form = RelayScales::FormOf(call.args[factor], call.args[1 - factor], *message);
      if (!form || !TypeEqual(call.args[1 - factor]->type, call.type) || !scales_.Fits(call.args[factor], *message))
        continue;
      const Expr* vector = make_.Vector(VisitExpr(call.args[factor]), *form);
      scaled_[var] = {VisitExpr(call.args[1 - factor]), vector, message->axes};
      return true;
    }
    return false;
  }

  bool IsScaled(const Expr* expr) const { return scaled_.contains(expr); }

  // An activation, or a sum, of a value without its factor.
  bool Carry(const Var* var, const Call& call) {
    const uint32_t data = IsScaled(call.args[0]) ? 0 : 1;
    if (data >= call.args.size() || !IsScaled(call.args[data])) return false;
    const Scaled own = scaled_.at(call.args[data]);
    OpBuilder make(builder());
    const OpId op = To<Op>(call.op)->id;
    const Expr* value = nullptr;
    if (!IsSum(op)) {
      value = make.Make(op, {own.value}, call.attrs);
    } else {
      const Expr* divisor = make_.Along(own.vector, *TensorTypeOf(call.args[data]), own.axes);
      const Expr* other = builder().Emit(op::Divide(make, VisitExpr(call.args[1 - data]), divisor));
      value = data == 0 ? make.Make(op, {own.value, other}) : make.Make(op, {other, own.value});
    }
    scaled_[var] = {builder().Emit(value), own.vector, own.axes};
    return true;
  }

  const RelayScales& scales_;
  ScaleMaker make_;
  LookupMap<const Expr*, Requests> messages_;  // by variable
  LookupMap<const Expr*, Scaled> scaled_;      // by variable
};

// ---- Backward

class RelayBackward : public ExprMutator {
 public:
  RelayBackward(const RelayScales& scales, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), scales_(scales), make_(builder()) {
    const std::vector<const VarBinding*>& operations = scales.operations();
    for (const VarBinding* operation : operations) Offer(operation->var, *To<Call>(operation->value));
    for (size_t i = operations.size(); i-- > 0;) Accept(operations[i]->var, *To<Call>(operations[i]->value));
  }

  bool found() const { return !folded_.empty(); }

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const Call* call = scales_.CallOf(binding->var);
    if (const auto folded = folded_.find(binding->var); folded != folded_.end())
      return ReEmitBinding(binding, VisitExpr(call->args[folded->second]));
    const auto wanted = wanted_.find(binding->var);
    if (wanted == wanted_.end()) return ExprMutator::VisitVarBinding(binding);
    const Expr* vector = VectorOf(wanted->second);
    if (const auto place = scales_.WeightsOf(*call, /*of_input=*/false)) {
      const Expr* weight = VisitExpr(WeightOf(*call, *place));
      return ReEmitBinding(
          binding, builder().Normalize(make_.WithWeight(*call, *place, VisitExpr(call->args[0]), weight, vector)));
    }
    if (!IsSum(To<Op>(call->op)->id)) return ExprMutator::VisitVarBinding(binding);
    ReEmitBinding(binding, builder().Normalize(ScaledSum(*call, vector)));
  }

 private:
  // The factor of a multiplication.
  struct Factor {
    const Expr* operand;
    VectorForm form;
  };

  const AxesMessage* OfferOf(const Expr* operand) const { return offers_.Find(operand); }

  void Offer(const Var* var, const Call& call) {
    if (scales_.Uses(var) != 1) return;
    if (const auto place = scales_.WeightsOf(call, /*of_input=*/false)) {
      offers_[var] = {place->tensor};
      return;
    }
    const OpId op = To<Op>(call.op)->id;
    const AxesMessage* first = call.args.empty() ? nullptr : OfferOf(call.args[0]);
    if (IsScalableActivation(op) && first) {
      offers_[var] = {first->axes, /*positive=*/true};
    } else if (IsSum(op)) {
      if (const AxesMessage* message = OfferOfSum(call)) offers_[var] = *message;
    }
  }

  const AxesMessage* OfferOfSum(const Call& call) const {
    const std::array<const AxesMessage*, 2> own = {OfferOf(call.args[0]), OfferOf(call.args[1])};
    for (const uint32_t i : {0U, 1U}) {
      const Expr* other = call.args[1 - i];
      if (own[i] && !own[1 - i] && RelayScales::FormOf(other, call.args[i], *own[i]) && TensorTypeOf(other)->ndim > 0)
        return own[i];
    }
    const bool alike =
        own[0] && own[1] && own[0]->axes == own[1]->axes && TypeEqual(call.args[0]->type, call.args[1]->type);
    if (!alike) return nullptr;
    return own[1]->positive ? own[1] : own[0];
  }

  void Accept(const Var* var, const Call& call) {
    if (const auto wanted = wanted_.find(var); wanted != wanted_.end()) {
      // Weights take it in, and the data stays as it is.
      if (scales_.WeightsOf(call, /*of_input=*/false)) return;
      const Factor factor = wanted->second;
      for (const Expr* arg : call.args) {
        if (OfferOf(arg)) wanted_[arg] = factor;
      }
      return;
    }
    if (!IsOp(call.op, op::kMultiply)) return;
    const uint32_t data = OfferOf(call.args[0]) ? 0 : 1;
    const AxesMessage* message = OfferOf(call.args[data]);
    if (!message || !TypeEqual(call.args[data]->type, call.type)) return;
    const auto form = RelayScales::FormOf(call.args[1 - data], call.args[data], *message);
    if (!form || !scales_.Fits(call.args[1 - data], *message)) return;
    folded_[var] = data;
    wanted_[call.args[data]] = {call.args[1 - data], *form};
  }

  // Once for all uses of a factor.
  const Expr* VectorOf(const Factor& factor) {
    const Expr*& vector = vectors_[factor.operand];
    if (!vector) vector = make_.Vector(VisitExpr(factor.operand), factor.form);
    return vector;
  }

  // A sum in which one operand takes the factor in, and the other one is multiplied by it.
  const Expr* ScaledSum(const Call& call, const Expr* vector) {
    OpBuilder make(builder());
    std::array<const Expr*, 2> args = {VisitExpr(call.args[0]), VisitExpr(call.args[1])};
    const OpId op = To<Op>(call.op)->id;
    if (OfferOf(call.args[0]) && OfferOf(call.args[1])) return make.Make(op, args, call.attrs);
    const uint32_t other = OfferOf(call.args[0]) ? 1 : 0;
    const Call* column = scales_.IsBias(call) ? scales_.CallOf(call.args[1]) : nullptr;
    if (column) {
      const Expr* bias = builder().Emit(op::Multiply(make, VisitExpr(column->args[0]), vector));
      args[other] = builder().Emit(make.Make(op::kExpandDims, {bias}, column->attrs));
    } else {
      const Expr* data = call.args[1 - other];
      const Expr* factor = make_.Along(vector, *TensorTypeOf(data), OfferOf(data)->axes);
      args[other] = builder().Emit(op::Multiply(make, args[other], factor));
    }
    return make.Make(op, args, call.attrs);
  }

  const RelayScales& scales_;
  ScaleMaker make_;
  LookupMap<const Expr*, AxesMessage> offers_;            // by variable
  std::unordered_map<const Expr*, Factor> wanted_;        // by variable that takes a factor in
  std::unordered_map<const Expr*, uint32_t> folded_;      // multiplications that disappear, with their data
  std::unordered_map<const Expr*, const Expr*> vectors_;  // by factor
};

template <class Folder>
Result<const Function*> FoldAsRelay(const Function* function, FunctionPassContext& context) {
  if (IsPrimitive(*function) || OverwritesVars(*function, &context.module())) return function;
  Workspace& workspace = context.workspace();
  const RelayScales scales(*function, workspace.num_vars());
  OpTypeInferrer inferrer(&context.module(), workspace.arena(), &context.diagnostics());
  Folder folder(scales, workspace, inferrer);
  if (!folder.found()) return function;
  const auto* folded = To<Function>(folder.VisitExpr(function));
  if (folder.failed()) return Failure{ErrorCode::PassFailed};
  if (folded == function) return function;
  // A factor may be used before its definition, until the bindings are sorted.
  return RemoveDeadBindings(SortByOperands(folded, workspace), &context.module(), workspace);
}

}  // namespace

Result<const Function*> FoldForwardAsRelay(const Function* function, FunctionPassContext& context) {
  return FoldAsRelay<RelayForward>(function, context);
}

Result<const Function*> FoldBackwardAsRelay(const Function* function, FunctionPassContext& context) {
  return FoldAsRelay<RelayBackward>(function, context);
}

}  // namespace iropt
