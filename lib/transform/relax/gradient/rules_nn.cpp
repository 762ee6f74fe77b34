// Gradients of operators of neural networks.
//
// Source: the formulas are those of TVM 0.18, which however ignores the dilation in the output padding; `y` is the
// result, `g` its gradient.
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/grad.h"
#include "iropt/op/ops/slice.h"
#include "iropt/op/ops/softmax.h"
#include "rules.h"

namespace iropt {

// ---- Softmax and losses

// (g - sum(g * y)) * y
Partials GradNnSoftmax(const GradCall& c, GradBuilder& b) {
  const int64_t axes[] = {SoftmaxAttrs(*c.call).axis()};
  const Expr* sum = b.SumKeepingDims(b.Multiply(c.grad, c.result), axes);
  return {b.Multiply(b.Subtract(c.grad, sum), c.result)};
}

// g - sum(g) * exp(y)
Partials GradNnLogSoftmax(const GradCall& c, GradBuilder& b) {
  const int64_t axes[] = {SoftmaxAttrs(*c.call).axis()};
  const Expr* sum = b.SumKeepingDims(c.grad, axes);
  return {b.Subtract(c.grad, b.Multiply(sum, b.Call(op::kExp, {c.result})))};
}

// -g * labels and -g * predictions, divided by the batch size.
Partials GradNnCrossEntropyWithLogits(const GradCall& c, GradBuilder& b) {
  const Expr* grad = c.grad;
  if (b.NumDims(c.arg(0)) > 1) grad = b.Divide(grad, b.Scalar(static_cast<double>(b.StaticDim(c.arg(0), 0)), c.grad));
  const Expr* negated = b.Negative(grad);
  return {b.Multiply(negated, c.arg(1)), b.Multiply(negated, c.arg(0))};
}

// Targets and weights have no gradient.
Partials GradNnNllLoss(const GradCall& c, GradBuilder& b) {
  const OpId op = op::kGradNllLossBackward;
  if (c.call->args.size() == 2) return {b.Call(op, {c.grad, c.arg(0), c.arg(1)}, c.call->attrs)};
  return {b.Call(op, {c.grad, c.arg(0), c.arg(1), c.arg(2)}, c.call->attrs)};
}

// ---- Pooling

Partials GradNnAvgPool2d(const GradCall& c, GradBuilder& b) {
  return {b.Call(op::kGradAvgPool2dBackward, {c.grad, c.arg(0)}, c.call->attrs)};
}

Partials GradNnMaxPool2d(const GradCall& c, GradBuilder& b) {
  return {b.Call(op::kGradMaxPool2dBackward, {c.grad, c.arg(0)}, c.call->attrs)};
}

// ---- Convolution

namespace {

constexpr int kHeight = 2;
constexpr int kWidth = 3;

// A convolution of data in NCHW with weights in OIHW.
class Conv2dGradient {
 public:
  Conv2dGradient(const GradCall& c, GradBuilder& b) : c_(c), b_(b), attrs_(*c.call) {
    for (const int i : {0, 1}) Measure(i);
  }

  // The transposed convolution of the gradient with the weights. Elements of the data at the end that no window reaches
  // have the gradient 0: output padding.
  const Expr* OfData() {
    const int64_t padding[] = {axes_[0].output_padding, axes_[1].output_padding};
    const ConvTransposeAttrs::Values values{.strides = attrs_.strides().vector(),
                                            .padding = attrs_.padding().vector(),
                                            .output_padding = std::span<const int64_t>(padding),
                                            .dilation = attrs_.dilation().vector(),
                                            .groups = attrs_.groups(),
                                            .data_layout = std::string_view("NCHW"),
                                            .kernel_layout = std::string_view("IOHW"),
                                            .out_layout = std::string_view("NCHW"),
                                            .out_dtype = attrs_.out_dtype()};
    const OpId op = op::kNnConv2dTranspose;
    return b_.Call(op, {c_.grad, c_.arg(1)}, MakeOpAttrs(op, values));
  }

  // The convolution of the data with the gradient, batch and channels exchanged, without what exceeds the windows.
  const Expr* OfWeight() {
    const ConvAttrs::Values values{.strides = attrs_.dilation().vector(),
                                   .padding = attrs_.padding().vector(),
                                   .dilation = attrs_.strides().vector(),
                                   .groups = attrs_.groups(),
                                   .data_layout = std::string_view("CNHW"),
                                   .kernel_layout = std::string_view("IOHW"),
                                   .out_layout = std::string_view("CNHW"),
                                   .out_dtype = attrs_.out_dtype()};
    const Expr* grad = b_.Call(op::kNnConv2d, {GroupedData(), c_.grad}, MakeOpAttrs(op::kNnConv2d, values));
    const bool exceeds = axes_[0].weight_grad > axes_[0].filter || axes_[1].weight_grad > axes_[1].filter;
    return exceeds ? Cut(grad) : grad;
  }

 private:
  struct Axis {
    int64_t filter = 0;
    int64_t output_padding = 0;
    int64_t weight_grad = 0;  // the length of the gradient of the weights before it is cut
  };

  void Measure(int i) {
    const auto at = static_cast<size_t>(i);
    const int64_t in = b_.StaticDim(c_.arg(0), kHeight + i);
    const int64_t filter = b_.StaticDim(c_.arg(1), kHeight + i);
    const int64_t steps = (b_.StaticDim(c_.result, kHeight + i) - 1) * attrs_.strides()[at];
    const int64_t padding = attrs_.padding()[at] + attrs_.padding()[at + 2];
    const int64_t dilation = attrs_.dilation()[at];
    axes_[at] = {.filter = filter,
                 .output_padding = in - (steps - padding + dilation * (filter - 1) + 1),
                 .weight_grad = (in - steps - 1 + padding) / dilation + 1};
  }

  // The data with the groups as part of the batch.
  const Expr* GroupedData() {
    const Expr* data = c_.arg(0);
    if (attrs_.groups() == 1) return data;
    const std::span<const PrimExpr* const> dims = b_.DimsOf(data);
    if (b_.failed()) return data;
    const PrimExpr* groups = make_.Int(attrs_.groups());
    const PrimExpr* channels = make_.FloorDiv(dims[1], groups);
    const PrimExpr* split[] = {dims[0], groups, channels, dims[kHeight], dims[kWidth]};
    const PrimExpr* joined[] = {make_.Mul(dims[0], groups), channels, dims[kHeight], dims[kWidth]};
    const int64_t axes[] = {1, 0, 2, 3, 4};
    return b_.Reshape(b_.PermuteDims(b_.Reshape(data, b_.Shape(split)), axes), b_.Shape(joined));
  }

  const Expr* Cut(const Expr* grad) {
    const std::span<const PrimExpr* const> weight = b_.DimsOf(c_.arg(1));
    if (b_.failed()) return grad;
    const PrimExpr* zero = make_.Int(0);
    const PrimExpr* axes[] = {zero, make_.Int(1), make_.Int(kHeight), make_.Int(kWidth)};
    const PrimExpr* begin[] = {zero, zero, zero, zero};
    const PrimExpr* end[] = {weight[0], weight[1], make_.Int(axes_[0].filter), make_.Int(axes_[1].filter)};
    const Attr* attrs = MakeOpAttrs(op::kStridedSlice, StridedSliceAttrs::Values{});
    return b_.Call(op::kStridedSlice, {grad, b_.IntTuple(axes), b_.IntTuple(begin), b_.IntTuple(end)}, attrs);
  }

  const GradCall& c_;
  GradBuilder& b_;
  const ConvAttrs attrs_;
  const arith::PrimBuilder make_ = {};
  Axis axes_[2] = {};
};

}  // namespace

Partials GradNnConv2d(const GradCall& c, GradBuilder& b) {
  const ConvAttrs attrs(*c.call);
  if (attrs.data_layout() != "NCHW" || attrs.kernel_layout() != "OIHW" || attrs.out_layout() != "NCHW") {
    b.Fail("cannot differentiate a conv2d in these layouts: expected NCHW for data and result and OIHW for weights");
    return {};
  }
  Conv2dGradient gradient(c, b);
  return {gradient.OfData(), gradient.OfWeight()};
}

}  // namespace iropt
