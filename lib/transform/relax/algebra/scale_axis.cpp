#include "scale_axis.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>

#include "iropt/analysis/relax/use_count.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/diag/joint_spans.h"
#include "iropt/ir/element.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/runtime/value.h"
#include "iropt/transform/relax/simplify/fold_constant.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// The axis that a letter stands for; nothing if the layout splits axes, so that it has digits and small letters, too.
std::optional<int64_t> AxisIn(std::string_view layout, const TensorType& tensor, char letter) {
  const bool is_simple = std::ranges::all_of(layout, [](char c) { return c >= 'A' && c <= 'Z'; });
  const size_t axis = layout.find(letter);
  if (!is_simple || layout.size() != static_cast<size_t>(tensor.ndim) || axis == layout.npos) return std::nullopt;
  return static_cast<int64_t>(axis);
}

std::optional<WeightAxis> Both(std::optional<int64_t> tensor, std::optional<int64_t> weight) {
  if (!tensor || !weight) return std::nullopt;
  return WeightAxis{*tensor, *weight};
}

bool IsConv(const Call& call) {
  return IsOp(call.op, op::kNnConv1d) || IsOp(call.op, op::kNnConv2d) || IsOp(call.op, op::kNnConv3d);
}

bool IsConvTranspose(const Call& call) {
  return IsOp(call.op, op::kNnConv1dTranspose) || IsOp(call.op, op::kNnConv2dTranspose) ||
         IsOp(call.op, op::kNnConv3dTranspose);
}

// The layout of the result of a convolution.
template <class Attrs>
std::string_view ResultLayout(const Attrs& attrs) {
  return attrs.out_layout().empty() ? attrs.data_layout() : attrs.out_layout();
}

bool AxisHasSize(const TensorType& kernel, std::string_view layout, char letter, int64_t size) {
  const std::optional<int64_t> axis = AxisIn(layout, kernel, letter);
  const int64_t* own = axis ? arith::AsInt(kernel.dims[static_cast<uint32_t>(*axis)]) : nullptr;
  return own && *own == size;
}

// Returns whether each channel has one filter of its own.
bool IsDepthwise(const TensorType& kernel, std::string_view layout, int64_t groups) {
  return AxisHasSize(kernel, layout, 'O', groups) && AxisHasSize(kernel, layout, 'I', 1);
}

bool AllOf(const NDArray& array, FunctionRef<bool(double)> holds) {
  bool all = true;
  const bool known = DispatchElement(array.dtype(), [&]<class T>(std::type_identity<T>) {
    all = std::ranges::all_of(array.As<T>(), [&](T x) { return holds(static_cast<double>(Element<T>::Load(x))); });
  });
  return known && all;
}

// Returns whether a tensor with these sizes, counted from the last axis, is repeated along all axes of the type but
// one.
template <class SizeAt>
bool VariesAtMostAlong(const TensorType& tensor, int64_t axis, int64_t rank, SizeAt size_at) {
  if (rank > tensor.ndim) return false;
  const int64_t* length = arith::AsInt(tensor.dims[static_cast<uint32_t>(axis)]);
  for (int64_t i = 0; i < rank; ++i) {
    const std::optional<int64_t> size = size_at(i);
    const bool at_axis = tensor.ndim - rank + i == axis;
    if (size != 1 && !(at_axis && length && size == *length)) return false;
  }
  return true;
}

}  // namespace

Scale Product(const Scale& a, const Scale& b) {
  if (!a) return b;
  const Scale& longer = a->num_elements() < b->num_elements() ? b : a;
  const std::shared_ptr<NDArray> product = NDArray::Make(longer->dtype(), longer->shape());
  DispatchElement(longer->dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> x = a->As<T>();
    const std::span<const T> y = b->As<T>();
    const std::span<T> out = product->MutableAs<T>();
    for (size_t i = 0; i < out.size(); ++i) {
      const auto left = Element<T>::Load(x[x.size() == 1 ? 0 : i]);
      out[i] = Element<T>::Store(static_cast<MathOf<T>>(left * Element<T>::Load(y[y.size() == 1 ? 0 : i])));
    }
  });
  return product;
}

bool Fits(const Scale& scale, const ScaleMessage& message) {
  return AllOf(*scale, [&](double x) {
    return std::isfinite(x) && (x > 0 || !message.positive) && (x != 0 || !message.nonzero);
  });
}

const Expr* ScaleAlong(const Scale& scale, int64_t rank, int64_t axis, Workspace& workspace) {
  std::vector<int64_t> shape;
  if (scale->num_elements() != 1) {
    shape.assign(static_cast<size_t>(rank - axis), 1);
    shape[0] = scale->num_elements();
  }
  return MakeConstant(NDArray::View(scale->dtype(), shape, scale->data(), scale), workspace);
}

const Expr* ScaleOfWeights(const Scale& scale, const TensorType& weight, const WeightAxis& axis, Workspace& workspace) {
  if (axis.groups == 1 || scale->num_elements() == 1) return ScaleAlong(scale, weight.ndim, axis.weight, workspace);
  const auto length = [&](int64_t of) { return *arith::AsInt(weight.dims[static_cast<uint32_t>(of)]); };
  const int64_t num_in_group = length(axis.weight);
  const int64_t num_inputs = length(axis.group_axis);
  std::vector<int64_t> shape(static_cast<size_t>(weight.ndim), 1);
  shape[static_cast<size_t>(axis.weight)] = num_in_group;
  shape[static_cast<size_t>(axis.group_axis)] = num_inputs;
  const std::shared_ptr<NDArray> factors = NDArray::Make(scale->dtype(), shape);
  const bool group_first = axis.group_axis < axis.weight;
  DispatchElement(scale->dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<T> out = factors->MutableAs<T>();
    for (int64_t i = 0; i < num_inputs; ++i) {
      const int64_t group = i / (num_inputs / axis.groups);
      for (int64_t o = 0; o < num_in_group; ++o) {
        const int64_t place = group_first ? i * num_in_group + o : o * num_inputs + i;
        out[static_cast<size_t>(place)] = scale->As<T>()[static_cast<size_t>(group * num_in_group + o)];
      }
    }
  });
  return MakeConstant(factors, workspace);
}

SourceSpan JoinPlaces(SourceSpan a, SourceSpan b) {
  const SourceSpan places[] = {a, b};
  return Join(places);
}

const Expr* FromPlaces(const Expr* made, const Call& old, SourceSpan more, Workspace& workspace) {
  const auto* call = As<Call>(made);
  if (call == nullptr || !more.known()) return made;
  const SourceSpan joint = JoinPlaces(Location(old), more);
  auto* copy = workspace.New<Call>(*call);
  copy->set_span(Span::Of(joint.begin, joint.end));
  return copy;
}

ScaleGraph::ScaleGraph(const Function& function, uint32_t num_vars)
    : uses_(UseCounts(function, num_vars)), is_constant_(num_vars, false), literal_(num_vars, nullptr) {
  struct Collector : WalkHandler {
    ScaleGraph& graph;
    explicit Collector(ScaleGraph& g) : graph(g) {}
    void OnBinding(const Binding& binding) {
      const auto* bound = As<VarBinding>(&binding);
      if (!bound) return;
      const auto* call = As<Call>(bound->value);
      if (call && Is<Op>(call->op)) {
        graph.operations_.push_back(bound);
        const auto is_constant = [&](const Expr* arg) { return graph.IsConstant(arg); };
        graph.is_constant_[bound->var->id] =
            To<Op>(call->op)->info->pure && std::ranges::all_of(call->args, is_constant);
      } else if (const auto* constant = As<Constant>(bound->value)) {
        graph.is_constant_[bound->var->id] = true;
        graph.literal_[bound->var->id] = constant;
      }
    }
  };
  Collector collector(*this);
  Walk(function, collector);
}

bool ScaleGraph::IsConstant(const Expr* expr) const {
  if (const auto* var = As<Var>(expr)) return is_constant_[var->id];
  return Is<Constant>(expr) || Is<ShapeExpr>(expr) || Is<PrimValue>(expr);
}

const NDArray* ScaleGraph::LiteralOf(const Expr* expr) const {
  if (const auto* var = As<Var>(expr)) expr = literal_[var->id];
  const auto* constant = expr ? As<Constant>(expr) : nullptr;
  return constant ? constant->data : nullptr;
}

// Of a transposed convolution: the weights have an axis of all input channels, and one of the output channels of a
// group.
static std::optional<WeightAxis> AxisOfTranspose(const Call& call, bool of_result) {
  const ConvTransposeAttrs attrs(call);
  const TensorType& weight = *TensorTypeOf(call.args[1]);
  const std::string_view kernel = attrs.kernel_layout();
  if (!of_result)
    return Both(AxisIn(attrs.data_layout(), *TensorTypeOf(call.args[0]), 'C'), AxisIn(kernel, weight, 'I'));
  std::optional<WeightAxis> axis =
      Both(AxisIn(ResultLayout(attrs), *TensorTypeOf(&call), 'C'), AxisIn(kernel, weight, 'O'));
  const std::optional<int64_t> inputs = AxisIn(kernel, weight, 'I');
  const auto is_known = [](const PrimExpr* dim) { return arith::AsInt(dim) != nullptr; };
  if (!axis || !inputs || !std::ranges::all_of(weight.dims, is_known)) return std::nullopt;
  axis->groups = attrs.groups();
  axis->group_axis = *inputs;
  return axis;
}

// Data, weights and result have one dtype and known ranks. Weights in a file that FoldConstant would not read stay.
bool ScaleGraph::HasFloatWeights(const Call& call) const {
  const NDArray* literal = LiteralOf(call.args[1]);
  if (literal && literal->source() && literal->num_bytes() > FoldOptions().max_file_bytes) return false;
  const TensorType* data = TensorTypeOf(call.args[0]);
  const TensorType* weight = TensorTypeOf(call.args[1]);
  const TensorType* result = TensorTypeOf(&call);
  return data && weight && result && data->known && weight->known && result->known && data->dtype.is_floating() &&
         data->dtype == weight->dtype && data->dtype == result->dtype && IsConstant(call.args[1]);
}

std::optional<WeightAxis> ScaleGraph::InputAxis(const Call& call) const {
  if (IsConvTranspose(call)) return HasFloatWeights(call) ? AxisOfTranspose(call, false) : std::nullopt;
  const bool is_conv = IsConv(call);
  if ((!is_conv && !IsOp(call.op, op::kMatmul)) || !HasFloatWeights(call)) return std::nullopt;
  const TensorType& data = *TensorTypeOf(call.args[0]);
  const TensorType& weight = *TensorTypeOf(call.args[1]);
  if (!is_conv) {
    if (weight.ndim < 2) return std::nullopt;
    return WeightAxis{data.ndim - 1, weight.ndim - 2};
  }
  const ConvAttrs attrs(call);
  const bool depthwise = attrs.groups() != 1 && IsDepthwise(weight, attrs.kernel_layout(), attrs.groups());
  if (attrs.groups() != 1 && !depthwise) return std::nullopt;
  return Both(AxisIn(attrs.data_layout(), data, 'C'), AxisIn(attrs.kernel_layout(), weight, depthwise ? 'O' : 'I'));
}

std::optional<WeightAxis> ScaleGraph::OutputAxis(const Call& call) const {
  if (IsConvTranspose(call)) return HasFloatWeights(call) ? AxisOfTranspose(call, true) : std::nullopt;
  const bool is_conv = IsConv(call);
  if ((!is_conv && !IsOp(call.op, op::kMatmul)) || !HasFloatWeights(call)) return std::nullopt;
  const TensorType& weight = *TensorTypeOf(call.args[1]);
  const TensorType& result = *TensorTypeOf(&call);
  if (!is_conv) {
    if (weight.ndim < 2) return std::nullopt;
    return WeightAxis{result.ndim - 1, weight.ndim - 1};
  }
  const ConvAttrs attrs(call);
  return Both(AxisIn(ResultLayout(attrs), result, 'C'), AxisIn(attrs.kernel_layout(), weight, 'O'));
}

Scale ScaleGraph::ScaleOf(const Expr* operand, const Type* type, int64_t axis) const {
  const NDArray* array = LiteralOf(operand);
  const auto* tensor = As<TensorType>(type);
  if (!array || !tensor || !tensor->known || array->dtype() != tensor->dtype || !tensor->dtype.is_floating()) {
    return nullptr;
  }
  const auto rank = static_cast<int64_t>(array->shape().size());
  const auto size_at = [&](int64_t i) { return std::optional(array->shape()[static_cast<size_t>(i)]); };
  return VariesAtMostAlong(*tensor, axis, rank, size_at) ? array->shared_from_this() : nullptr;
}

bool ScaleGraph::VariesAlong(const Expr* operand, const Type* type, int64_t axis) const {
  const TensorType* own = TensorTypeOf(operand);
  const auto* tensor = As<TensorType>(type);
  if (!IsConstant(operand) || !own || !own->known || !tensor || !tensor->known || own->dtype != tensor->dtype)
    return false;
  return VariesAtMostAlong(*tensor, axis, own->ndim, [&](int64_t i) -> std::optional<int64_t> {
    const int64_t* size = arith::AsInt(own->dims[static_cast<uint32_t>(i)]);
    return size ? std::optional(*size) : std::nullopt;
  });
}

bool IsScalableActivation(OpId op) { return op == op::kNnRelu || op == op::kNnLeakyrelu; }

bool IsSum(OpId op) { return op == op::kAdd || op == op::kSubtract; }

}  // namespace iropt
