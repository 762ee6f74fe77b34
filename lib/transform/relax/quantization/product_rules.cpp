// Operators that sum up elements: products, convolutions, pooling and means.
#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/pooling.h"
#include "rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

constexpr DataType kSumDType = DataType::Int(32);

// The type of a product: the product of the scales, and no zero point. The data has one scale, the weight one, or one
// for each channel of the result.
Applied ProductOf(RuleCall& in, const Expr* value, size_t weight_axis, int64_t axis) {
  const AffineType* x = TypeOfTensor(in, 0);
  const AffineType* w = in.type(1);
  if (!x || !w || !value) return std::nullopt;
  if (!IsPerTensor(*w) && w->axis != static_cast<int64_t>(weight_axis))
    return in.Fail("the scales of the weight are not those of the channels of the result");
  const Expr* scale = in.Product(x->scale, w->scale);
  if (!scale) return std::nullopt;
  const auto scales = NumbersOf(scale);
  const Expr* zero = MakeNumber(0, kSumDType, in.workspace());
  if (scales && TensorTypeOf(scale)->ndim != 0)
    zero = MakeVector(std::vector<double>(scales->size()), kSumDType, in.workspace());
  return IntegerValue{value, {AffineType{scale, zero, kSumDType, axis}}};
}

// The operands of qnn's products.
const Expr* RelayProduct(RuleCall& in, std::string_view name, std::initializer_list<PyKeyword> attributes = {}) {
  const AffineType* x = in.type(0);
  const AffineType* w = in.type(1);
  if (!x || !w) return nullptr;
  return in.Relay(name, {in.expr(0), in.expr(1), x->zero_point, w->zero_point, x->scale, w->scale}, attributes);
}

PyValue Known(const std::optional<int64_t>& size) { return size ? PyValue::Int(*size, {}) : PyValue(); }

PyValue KernelSize(RuleCall& in, std::string_view layout) {
  const auto height = SizeOf(in.call().args[1], layout.find('H'));
  const auto width = SizeOf(in.call().args[1], layout.find('W'));
  if (!height || !width) return PyValue();
  const int64_t sizes[] = {*height, *width};
  return in.Ints(sizes);
}

// The axis of the vector with axes after its own.
int64_t BiasAxis(const Call& sum) {
  const TensorType* tensor = TensorTypeOf(sum.args[0]);
  const TensorType* bias = TensorTypeOf(sum.args[1]);
  return tensor && bias ? tensor->ndim - bias->ndim : 1;
}

}  // namespace

// A pooling that is quantized at once may have the type of its result.
Applied ApplyAvgPool(RuleCall& in) {
  const AffineType* type = TypeOfTensor(in, 0);
  const AffineType* end = in.out_type();
  if (!type || !end) return std::nullopt;
  const AffineType out = in.is_last() ? *end : *type;
  const PoolAttrs attrs(in.call());
  const Expr* value = in.Relay(
      "qnn.avg_pool2d", {in.expr(0), type->scale, type->zero_point, out.scale, out.zero_point},
      {in.Attribute("pool_size", attrs.pool_size().vector()), in.Attribute("strides", attrs.strides().vector()),
       in.Attribute("padding", attrs.padding().vector()), in.Attribute("dilation", attrs.dilation().vector()),
       RuleCall::Attribute("ceil_mode", PyValue::Bool(attrs.ceil_mode(), {})),
       RuleCall::Attribute("count_include_pad", PyValue::Bool(attrs.count_include_pad(), {})),
       in.Attribute("layout", attrs.layout())});
  return ValueOfType(value, out, type->dtype);
}

// In int32, with the parameters of the result.
Applied ApplyAdaptiveAvgPool(RuleCall& in) {
  const AffineType* type = in.type(0);
  const AffineType* out = in.out_type();
  if (!type || !out) return std::nullopt;
  const Expr* wide =
      AreClose(*type, *out) ? in.Cast(in.expr(0), kSumDType) : in.Requantize(in.expr(0), *type, *out, kSumDType);
  return ValueOfType(in.With({wide}), *out, kSumDType);
}

Applied ApplyGlobalAvgPool(RuleCall& in) {
  const auto sizes = AdaptivePoolAttrs(in.call()).output_size();
  if (!sizes || std::ranges::any_of(sizes->vector(), [](int64_t size) { return size != 1; }))
    return in.Fail("only global pooling is computed on integers");
  return ApplyAdaptiveAvgPool(in);
}

Applied ApplyMean(RuleCall& in) {
  const std::optional<AffineType> type = MovedType(in);
  if (!type) return std::nullopt;
  return IntegerValue{in.Cast(in.With({in.Cast(in.expr(0), kSumDType)}), type->dtype), {*type}};
}

Applied ApplyConv2d(RuleCall& in) {
  const ConvAttrs attrs(in.call());
  const auto channel = attrs.out_layout().find('C');
  const Expr* value = RelayProduct(
      in, "qnn.conv2d",
      {in.Attribute("strides", attrs.strides().vector()), in.Attribute("padding", attrs.padding().vector()),
       in.Attribute("dilation", attrs.dilation().vector()),
       RuleCall::Attribute("groups", PyValue::Int(attrs.groups(), {})),
       RuleCall::Attribute("channels", Known(SizeOf(&in.call(), channel))),
       RuleCall::Attribute("kernel_size", KernelSize(in, attrs.kernel_layout())),
       in.Attribute("data_layout", attrs.data_layout()), in.Attribute("kernel_layout", attrs.kernel_layout()),
       in.Attribute("out_layout", attrs.out_layout())});
  return ProductOf(in, value, attrs.kernel_layout().find('O'), static_cast<int64_t>(channel));
}

Applied ApplyConv2dTranspose(RuleCall& in) {
  const ConvTransposeAttrs attrs(in.call());
  const auto channel = attrs.out_layout().find('C');
  const Expr* value = RelayProduct(
      in, "qnn.conv2d_transpose",
      {in.Attribute("strides", attrs.strides().vector()), in.Attribute("padding", attrs.padding().vector()),
       in.Attribute("output_padding", attrs.output_padding().vector()),
       in.Attribute("dilation", attrs.dilation().vector()),
       RuleCall::Attribute("groups", PyValue::Int(attrs.groups(), {})),
       RuleCall::Attribute("channels", Known(SizeOf(&in.call(), channel))),
       RuleCall::Attribute("kernel_size", KernelSize(in, attrs.kernel_layout())),
       in.Attribute("data_layout", attrs.data_layout()), in.Attribute("kernel_layout", attrs.kernel_layout()),
       in.Attribute("out_layout", attrs.out_layout())});
  return ProductOf(in, value, attrs.kernel_layout().find('O'), static_cast<int64_t>(channel));
}

// The weight is that of qnn.dense, whose rows are the channels of the result.
Applied ApplyDense(RuleCall& in) { return ProductOf(in, RelayProduct(in, "qnn.dense"), 0, 1); }

Applied ApplyBatchMatmul(RuleCall& in) {
  if (!TypeOfTensor(in, 1)) return std::nullopt;
  const Expr* value =
      RelayProduct(in, "qnn.batch_matmul", {RuleCall::Attribute("transpose_b", PyValue::Bool(true, {}))});
  return ProductOf(in, value, 0, -1);
}

Applied ApplyBiasAdd(RuleCall& in) {
  const AffineType* type = in.type(0);
  if (!type) return std::nullopt;
  const IntegerValue& bias = in.operand(1);
  const Expr* vector = bias.expr;
  if (!bias.is_quantized()) {
    vector = in.Quantize(vector, *type, 0);
  } else if (!AreClose(*type, bias.types.front())) {
    AffineType from = bias.types.front();
    from.axis = 0;
    vector = in.Requantize(vector, from, *type);
  }
  const Expr* sum = in.Relay("nn.bias_add", {in.expr(0), vector},
                             {RuleCall::Attribute("axis", PyValue::Int(BiasAxis(in.call()), {}))});
  return IntegerValue{sum, {*type}};
}

}  // namespace iropt
