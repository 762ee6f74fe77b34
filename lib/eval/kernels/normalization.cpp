// Normalizations: composed of elementwise operators and reductions, each rounded to the dtype of the computation.
#include "iropt/op/ops/normalization.h"

#include <algorithm>
#include <numeric>

#include "elementwise.h"
#include "reduce.h"

namespace iropt::eval {

namespace {

// A formula over tensors that broadcast. The first failure is kept, and later steps compute nothing.
class Formula {
 public:
  explicit Formula(KernelCall& call) : call_(call) {}

  Tensor Binary(const BinaryOp& op, const Tensor& a, const Tensor& b) {
    return Keep([&] { return MapBinary(call_, op, a, b); });
  }
  Tensor Add(const Tensor& a, const Tensor& b) { return Binary(kAdd, a, b); }
  Tensor Sub(const Tensor& a, const Tensor& b) { return Binary(kSubtract, a, b); }
  Tensor Mul(const Tensor& a, const Tensor& b) { return Binary(kMultiply, a, b); }
  Tensor Div(const Tensor& a, const Tensor& b) { return Binary(kDivide, a, b); }
  Tensor Unary(const UnaryOp& op, const Tensor& x) {
    return Keep([&] { return MapUnary(call_, op, x); });
  }
  Tensor Sum(const Tensor& x, const Shape& axes) {
    return Keep([&] { return Reduce(call_, ReduceOp::kSum, x, axes, /*keepdims=*/true); });
  }
  Tensor Cast(const Tensor& x, DataType dtype) {
    return Keep([&] { return CastTensor(call_, x, dtype); });
  }
  Tensor Number(double value, DataType dtype) { return Cast(MakeScalarTensor(Scalar::Float(value)), dtype); }

  bool ok() const { return !failed_; }
  const Error& error() const { return error_; }

 private:
  template <class F>
  Tensor Keep(F&& compute) {
    if (failed_) return nullptr;
    Result<Tensor> result = compute();
    if (result) return *std::move(result);
    failed_ = true;
    error_ = result.error();
    return nullptr;
  }

  KernelCall& call_;
  bool failed_ = false;
  Error error_{ErrorCode::SemanticCheck, {}};
};

// Formats of 16 bits and fewer are normalized in float32.
DataType WideType(DataType dtype) { return dtype.bits < 32 ? DataType::Float(32) : dtype; }

double CountOver(const NDArray& x, const Shape& axes) {
  double count = 1;
  for (const int64_t axis : axes) count *= static_cast<double>(x.shape()[static_cast<size_t>(axis)]);
  return count;
}

// A parameter with one element for each position on the given axes, in a shape that broadcasts to `shape`.
Result<Tensor> Spread(const KernelCall& call, const Tensor& parameter, std::span<const int64_t> shape,
                      const Shape& axes) {
  Shape own;
  Shape spread(shape.size(), 1);
  for (const int64_t axis : axes) {
    own.push_back(shape[static_cast<size_t>(axis)]);
    spread[static_cast<size_t>(axis)] = own.back();
  }
  if (ShapeOf(*parameter) != own) {
    return call.Fail(fmt::format("a parameter of shape {} does not fit axes of lengths {}",
                                 ShapeText(parameter->shape()), ShapeText(own)));
  }
  return Reshaped(parameter, std::move(spread));
}

Status CheckSameFloats(const KernelCall& call, std::span<const Tensor> operands) {
  const DataType dtype = operands[0]->dtype();
  if (!dtype.is_floating()) return call.UnsupportedDType(dtype);
  for (const Tensor& operand : operands) {
    if (operand->dtype() != dtype) return call.Fail("the operands differ in dtype");
  }
  return {};
}

Result<std::vector<Tensor>> ReadFloats(const KernelCall& call, size_t count) {
  std::vector<Tensor> operands;
  for (size_t i = 0; i < count; ++i) {
    IROPT_ASSIGN_OR_RETURN(Tensor operand, call.TensorArg(i));
    operands.push_back(std::move(operand));
  }
  IROPT_RETURN_IF_ERROR(CheckSameFloats(call, operands));
  return operands;
}

// The axes of a list in ascending order.
Result<Shape> SortedAxes(const KernelCall& call, const IntList& listed, size_t rank) {
  IROPT_ASSIGN_OR_RETURN(Shape axes, NormalizeAxes(call, listed.vector(), rank));
  std::ranges::sort(axes);
  return axes;
}

// (x - mean) / sqrt(variance + epsilon) over the axes. The variance is the mean of the squared distances from the mean:
// the mean of squares less the square of the mean would lose all digits if the mean is large.
Tensor Standardize(Formula& f, const Tensor& x, const Shape& axes, double epsilon) {
  const DataType wide = WideType(x->dtype());
  const Tensor data = f.Cast(x, wide);
  const Tensor count = f.Number(CountOver(*x, axes), wide);
  const Tensor distance = f.Sub(data, f.Div(f.Sum(data, axes), count));
  const Tensor variance = f.Div(f.Sum(f.Mul(distance, distance), axes), count);
  const Tensor scale = f.Unary(kRsqrt, f.Add(variance, f.Number(epsilon, wide)));
  return f.Cast(f.Mul(distance, scale), x->dtype());
}

// With the parameters that the attributes `scale` and `center` want.
template <class Attrs>
Tensor ScaleAndShift(Formula& f, Tensor x, const Tensor& gamma, const Tensor& beta, const Attrs& attrs) {
  if (attrs.scale()) x = f.Mul(x, gamma);
  return attrs.center() ? f.Add(x, beta) : x;
}

}  // namespace

Result<HostValue> EvalLayerNorm(KernelCall& call) {
  const auto attrs = call.attrs<LayerNormAttrs>();
  IROPT_ASSIGN_OR_RETURN(const std::vector<Tensor> args, ReadFloats(call, 3));
  const Tensor& x = args[0];
  IROPT_ASSIGN_OR_RETURN(const Shape axes, SortedAxes(call, attrs.axes(), x->shape().size()));
  IROPT_ASSIGN_OR_RETURN(const Tensor gamma, Spread(call, args[1], x->shape(), axes));
  IROPT_ASSIGN_OR_RETURN(const Tensor beta, Spread(call, args[2], x->shape(), axes));
  const auto epsilon = attrs.epsilon();
  Formula f(call);
  const Tensor result = ScaleAndShift(f, Standardize(f, x, axes, epsilon), gamma, beta, attrs);
  if (!f.ok()) return f.error();
  return HostValue(result);
}

// The channels are split into groups, each of which is normalized over its channels and the axes.
Result<HostValue> EvalGroupNorm(KernelCall& call) {
  const auto attrs = call.attrs<GroupNormAttrs>();
  IROPT_ASSIGN_OR_RETURN(const std::vector<Tensor> args, ReadFloats(call, 3));
  const Tensor& x = args[0];
  const size_t rank = x->shape().size();
  const auto groups = attrs.num_groups();
  const auto given = attrs.channel_axis();
  IROPT_ASSIGN_OR_RETURN(const int64_t channel, NormalizeAxis(call, given, rank));
  const int64_t channels = x->shape()[static_cast<size_t>(channel)];
  if (groups < 1 || channels % groups != 0)
    return call.Fail(fmt::format("{} channels do not divide into {} groups", channels, groups));
  Shape split = ShapeOf(*x);
  split[static_cast<size_t>(channel)] = groups;
  split.insert(split.begin() + channel + 1, channels / groups);
  IROPT_ASSIGN_OR_RETURN(const Shape listed, SortedAxes(call, attrs.axes(), rank));
  Shape axes{channel + 1};
  for (const int64_t axis : listed) {
    if (axis == channel) return call.Fail("the axes contain the channel axis");
    axes.push_back(axis < channel ? axis : axis + 1);
  }
  std::ranges::sort(axes);
  const Shape own{groups, channels / groups};
  const Shape both{channel, channel + 1};
  if (args[1]->num_elements() != channels || args[2]->num_elements() != channels)
    return call.Fail("the parameters do not fit the channels");
  IROPT_ASSIGN_OR_RETURN(const Tensor gamma, Spread(call, Reshaped(args[1], own), split, both));
  IROPT_ASSIGN_OR_RETURN(const Tensor beta, Spread(call, Reshaped(args[2], own), split, both));
  const auto epsilon = attrs.epsilon();
  Formula f(call);
  const Tensor result = ScaleAndShift(f, Standardize(f, Reshaped(x, split), axes, epsilon), gamma, beta, attrs);
  if (!f.ok()) return f.error();
  return HostValue(Reshaped(result, ShapeOf(*x)));
}

// Each channel of each image is normalized over the axes.
Result<HostValue> EvalInstanceNorm(KernelCall& call) {
  const auto attrs = call.attrs<InstanceNormAttrs>();
  IROPT_ASSIGN_OR_RETURN(const std::vector<Tensor> args, ReadFloats(call, 3));
  const Tensor& x = args[0];
  IROPT_ASSIGN_OR_RETURN(const int64_t channel, NormalizeAxis(call, attrs.channel_axis(), x->shape().size()));
  IROPT_ASSIGN_OR_RETURN(const Shape axes, SortedAxes(call, attrs.axes(), x->shape().size()));
  IROPT_ASSIGN_OR_RETURN(const Tensor gamma, Spread(call, args[1], x->shape(), {channel}));
  IROPT_ASSIGN_OR_RETURN(const Tensor beta, Spread(call, args[2], x->shape(), {channel}));
  Formula f(call);
  const Tensor result = ScaleAndShift(f, Standardize(f, x, axes, attrs.epsilon()), gamma, beta, attrs);
  if (!f.ok()) return f.error();
  return HostValue(result);
}

// x * weight / sqrt(the mean of squares + epsilon).
Result<HostValue> EvalRmsNorm(KernelCall& call) {
  const auto attrs = call.attrs<RMSNormAttrs>();
  IROPT_ASSIGN_OR_RETURN(const std::vector<Tensor> args, ReadFloats(call, 2));
  const Tensor& x = args[0];
  IROPT_ASSIGN_OR_RETURN(const Shape axes, SortedAxes(call, attrs.axes(), x->shape().size()));
  IROPT_ASSIGN_OR_RETURN(const Tensor weight, Spread(call, args[1], x->shape(), axes));
  const auto epsilon = attrs.epsilon();
  Formula f(call);
  const DataType wide = WideType(x->dtype());
  const Tensor data = f.Cast(x, wide);
  const Tensor square = f.Div(f.Sum(f.Mul(data, data), axes), f.Number(CountOver(*x, axes), wide));
  // Epsilon is rounded to the dtype of the data.
  const Tensor least = f.Cast(f.Number(epsilon, x->dtype()), wide);
  const Tensor scale = f.Unary(kRsqrt, f.Add(square, least));
  const Tensor result = f.Cast(f.Mul(f.Mul(scale, data), f.Cast(weight, wide)), x->dtype());
  if (!f.ok()) return f.error();
  return HostValue(result);
}

// In training, the data is normalized by its own moments, which update the moving ones; in inference, by the moving
// ones, which stay.
Result<HostValue> EvalBatchNorm(KernelCall& call) {
  const auto attrs = call.attrs<BatchNormAttrs>();
  IROPT_ASSIGN_OR_RETURN(const std::vector<Tensor> args, ReadFloats(call, 5));
  const Tensor& x = args[0];
  const auto given = attrs.axis();
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, given, x->shape().size()));
  const auto epsilon = attrs.epsilon();
  const auto momentum = attrs.momentum();
  std::vector<Tensor> parameters;
  for (size_t i = 1; i < args.size(); ++i) {
    IROPT_ASSIGN_OR_RETURN(Tensor parameter, Spread(call, args[i], x->shape(), {axis}));
    parameters.push_back(std::move(parameter));
  }
  Shape others(x->shape().size());
  std::iota(others.begin(), others.end(), 0);
  others.erase(others.begin() + axis);
  Formula f(call);
  const DataType dtype = x->dtype();
  const bool is_inference = call.is_inference() || !attrs.training();
  const Tensor count = f.Number(CountOver(*x, others), dtype);
  const Tensor mean = is_inference ? parameters[2] : f.Div(f.Sum(x, others), count);
  const Tensor distance = f.Sub(x, mean);
  const Tensor variance = is_inference ? parameters[3] : f.Div(f.Sum(f.Mul(distance, distance), others), count);
  Tensor out = f.Div(distance, f.Unary(kSqrt, f.Add(variance, f.Number(epsilon, dtype))));
  out = ScaleAndShift(f, out, parameters[0], parameters[1], attrs);
  TupleValue result;
  if (is_inference) {
    if (!f.ok()) return f.error();
    result.fields = {HostValue(out), call.arg(3), call.arg(4)};
    return HostValue(std::move(result));
  }
  const auto follow = [&](const Tensor& moving, const Tensor& current) {
    return f.Add(f.Mul(f.Number(1 - momentum, dtype), moving), f.Mul(f.Number(momentum, dtype), current));
  };
  const Tensor new_mean = follow(parameters[2], mean);
  const Tensor new_variance = follow(parameters[3], variance);
  if (!f.ok()) return f.error();
  const Shape channels{x->shape()[static_cast<size_t>(axis)]};
  result.fields = {HostValue(out), HostValue(Reshaped(new_mean, channels)),
                   HostValue(Reshaped(new_variance, channels))};
  return HostValue(std::move(result));
}

}  // namespace iropt::eval
