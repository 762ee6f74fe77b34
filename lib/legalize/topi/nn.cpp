// Tensor expressions of neural networks: normalization, softmax, losses.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/legalize/topi.h"

namespace iropt::topi {

namespace {

std::vector<Value> Without(Values indices, size_t axis) {
  std::vector<Value> rest(indices.begin(), indices.end());
  rest.erase(rest.begin() + static_cast<ptrdiff_t>(axis));
  return rest;
}

std::vector<Value> With(Values indices, size_t axis, Value index) {
  std::vector<Value> all(indices.begin(), indices.end());
  all.insert(all.begin() + static_cast<ptrdiff_t>(axis), index);
  return all;
}

// The indices of the chosen axes, and of the others.
struct SplitIndices {
  std::vector<Value> chosen, others;
  SplitIndices(Values indices, const std::vector<size_t>& axes) {
    for (size_t i = 0; i < indices.size(); ++i) {
      const bool is_chosen = std::find(axes.begin(), axes.end(), i) != axes.end();
      (is_chosen ? chosen : others).push_back(indices[i]);
    }
  }
};

// An element of sums over axes, which are a tensor of one dimension if no axis is left.
Value SumAt(const Tensor& sums, Values others) {
  const Value first = 0;
  return sums(others.empty() ? Values(&first, 1) : others);
}

// The product of some dimensions as a number of the dtype.
Value Extent(const Tensor& x, const std::vector<size_t>& axes, DataType dtype) {
  Value extent = x.te().Const(1, dtype);
  for (const size_t axis : axes) extent = extent * x.dim(axis);
  return extent;
}

// A softmax and the parts that it has in common with its logarithm.
struct SoftmaxParts {
  const Tensor& x;
  size_t axis;
  Shape reduced;
  te::StageOptions options = te::PythonAxes();
  Tensor max = {};

  SoftmaxParts(const Tensor& tensor, int64_t axis_number)
      : x(tensor), axis(RealAxis(tensor.ndim(), axis_number)), reduced(Without(tensor.shape(), axis)) {
    const te::ReduceAxis k[] = {Axis()};
    max = x.te().Reduce(
        "T_softmax_maxelem", reduced, k, te::Reducer::kFiniteMax,
        [&](Values i, Values r) { return x(Values(With(i, axis, r[0]))); }, te::PythonAxes());
    const DictAttr::Entry entry[] = {{"axis", IntAttr::Get(static_cast<int64_t>(axis))}};
    options.annotations = DictAttr::Get(entry);
  }
  te::ReduceAxis Axis() const { return {"k", x.dim(axis)}; }
};

}  // namespace

namespace {

// The elements of a tensor divided by the sums along the axis of the softmax.
Tensor DividedBySums(const SoftmaxParts& parts, const Tensor& exp) {
  const size_t axis = parts.axis;
  te::Builder& te = exp.te();
  const te::ReduceAxis k[] = {parts.Axis()};
  const Tensor sum = te.Reduce(
      "T_softmax_expsum", parts.reduced, k, te::Reducer::kSum,
      [&](Values i, Values r) { return exp(Values(With(i, axis, r[0]))); }, te::PythonAxes());
  const auto normalized = [&](Values i) { return te::Div(exp(i), sum(Values(Without(i, axis)))); };
  return te.Compute("T_softmax_norm", exp.shape(), normalized, parts.options);
}

}  // namespace

Tensor Softmax(const Tensor& x, int64_t axis) {
  const SoftmaxParts parts(x, axis);
  const auto exponential = [&](Values i) { return Exp(x(i) - parts.max(Values(Without(i, parts.axis)))); };
  return DividedBySums(parts, x.te().Compute("T_softmax_exp", x.shape(), exponential, te::PythonAxes()));
}

Tensor FastSoftmax(const Tensor& x, int64_t axis) {
  const SoftmaxParts parts(x, axis);
  const auto difference = [&](Values i) { return x(i) - parts.max(Values(Without(i, parts.axis))); };
  return DividedBySums(parts, FastExp(x.te().Compute("T_softmax_delta", x.shape(), difference, te::PythonAxes())));
}

Tensor LogSoftmax(const Tensor& x, int64_t axis_number) {
  const SoftmaxParts parts(x, axis_number);
  const size_t axis = parts.axis;
  te::Builder& te = x.te();
  const te::ReduceAxis k[] = {parts.Axis()};
  const Tensor sum = te.Reduce(
      "compute", parts.reduced, k, te::Reducer::kSum,
      [&](Values i, Values r) { return Exp(x(Values(With(i, axis, r[0]))) - parts.max(i)); }, te::PythonAxes());
  const auto normalized = [&](Values i) {
    const std::vector<Value> rest = Without(i, axis);
    return x(i) - parts.max(Values(rest)) - Log(sum(Values(rest)));
  };
  return te.Compute("compute", x.shape(), normalized, parts.options);
}

namespace {

// An element of `x` with the mean and the variance over the axes, in float32 for float16:
// (x - mean) / sqrt(variance + epsilon), in the dtype of `x`. The variance is the mean of the squared deviations from
// the mean; the mean of squares less the square of the mean would lose all digits if the mean is large.
class Standardized {
 public:
  Standardized(const Tensor& x, const std::vector<size_t>& axes, double epsilon)
      : x_(x),
        extent_(Extent(x, axes, x.dtype() == DataType::Float(16) ? DataType::Float(32) : x.dtype())),
        parts_(DeviationsFromMean(x, axes, extent_)),
        epsilon_(epsilon) {}

  // `others` are the indices that the statistics have.
  Value At(Values i, Values others) const {
    const Value var = te::Div(parts_.squares(others), extent_);
    const Value scale = Rsqrt(var + x_.te().Const(epsilon_, var.dtype()));
    return te::Cast(x_.dtype(), (x_(i) - parts_.mean(others)) * scale);
  }

 private:
  const Tensor& x_;
  Value extent_;
  MeanDeviations parts_;
  double epsilon_;
};

Value ScaleAndShift(Value x, const Tensor& gamma, const Tensor& beta, Values at, const NormOptions& options) {
  if (options.scale) x = x * gamma(at);
  return options.center ? x + beta(at) : x;
}

}  // namespace

Tensor LayerNorm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Axes& axes,
                 const NormOptions& options) {
  const std::vector<size_t> real = RealAxes(x.ndim(), axes);
  const Standardized standardized(x, real, options.epsilon);
  return x.te().Compute("T_layer_norm", x.shape(), [&](Values i) {
    const SplitIndices at(i, real);
    return ScaleAndShift(standardized.At(i, Values(at.others)), gamma, beta, Values(at.chosen), options);
  });
}

Tensor GroupNorm(const Tensor& x, const Tensor& gamma, const Tensor& beta, int64_t groups, int64_t channel_axis,
                 const Axes& axes, const NormOptions& options) {
  const size_t channel = RealAxis(x.ndim(), channel_axis);
  const Value group_size = te::FloorDiv(x.dim(channel), groups);
  Shape shape = x.shape();
  shape[channel] = group_size;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(channel), Value(groups));
  const Tensor data = Reshape(x, shape);
  const Value parameter_shape[] = {groups, group_size};
  const Tensor scale = Reshape(gamma, parameter_shape);
  const Tensor offset = Reshape(beta, parameter_shape);
  std::vector<size_t> real = {channel + 1};
  for (const size_t axis : RealAxes(x.ndim(), axes)) real.push_back(axis < channel ? axis : axis + 1);
  std::sort(real.begin(), real.end());
  const Standardized standardized(data, real, options.epsilon);
  const Tensor normalized = x.te().Compute("T_group_norm", shape, [&](Values i) {
    const SplitIndices at(i, real);
    return ScaleAndShift(standardized.At(i, Values(at.others)), scale, offset, i.subspan(channel, 2), options);
  });
  return Reshape(normalized, x.shape());
}

Tensor InstanceNorm(const Tensor& x, const Tensor& gamma, const Tensor& beta, int64_t channel_axis, const Axes& axes,
                    const NormOptions& options) {
  const size_t channel = RealAxis(x.ndim(), channel_axis);
  const std::vector<size_t> real = RealAxes(x.ndim(), axes);
  const Standardized standardized(x, real, options.epsilon);
  return x.te().Compute("T_instance_norm", x.shape(), [&](Values i) {
    const SplitIndices at(i, real);
    return ScaleAndShift(standardized.At(i, Values(at.others)), gamma, beta, i.subspan(channel, 1), options);
  });
}

Tensor RmsNorm(const Tensor& x, const Tensor& weight, const Axes& axes, double epsilon) {
  te::Builder& te = x.te();
  // TVM computes in float32, which has less precision than the operator if its data is float64.
  const DataType wide = x.dtype() == DataType::Float(64) ? x.dtype() : DataType::Float(32);
  const Tensor data = CastElements(x, wide);
  const Tensor scale = CastElements(weight, wide);
  const Tensor sums = Sum(Multiply(data, data), axes, false, true);
  const std::vector<size_t> real = RealAxes(x.ndim(), axes);
  const Value extent = Extent(data, real, wide);
  const Tensor rsqrt = te.Compute("rsqrt", SplitIndices(x.shape(), real).others, [&](Values i) {
    return Rsqrt(te::Div(SumAt(sums, i), extent) + te.Const(epsilon, wide));
  });
  const Tensor normalized = te.Compute("T_rms_norm", x.shape(), [&](Values i) {
    const SplitIndices at(i, real);
    return rsqrt(Values(at.others)) * data(i) * scale(Values(at.chosen));
  });
  return CastElements(normalized, x.dtype());
}

namespace {

// With statistics by channel: (x - mean) / sqrt(variance + epsilon) * gamma + beta. `shape` is that of the parameters
// with one dimension for each of `x`.
Tensor NormalizeChannels(const Tensor& x, const Tensor& wide_mean, const Tensor& variance, const Tensor& gamma,
                         const Tensor& beta, const Shape& shape, const BatchNormOptions& options) {
  te::Builder& te = x.te();
  const Tensor deviation = Map(Add(Reshape(variance, shape), te.Const(options.epsilon, x.dtype())), Sqrt);
  Tensor out = Divide(Subtract(x, wide_mean), deviation);
  if (options.scale) out = Multiply(out, Reshape(gamma, shape));
  if (options.center) out = Add(out, Reshape(beta, shape));
  return out;
}

}  // namespace

std::vector<Tensor> BatchNorm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& moving_mean,
                              const Tensor& moving_var, const BatchNormOptions& options) {
  te::Builder& te = x.te();
  const size_t axis = RealAxis(x.ndim(), options.axis);
  Shape shape(x.ndim(), 1);
  shape[axis] = x.dim(axis);
  if (!options.training) {
    const Tensor out = NormalizeChannels(x, Reshape(moving_mean, shape), moving_var, gamma, beta, shape, options);
    // The moving statistics are results, too, and no result is an operand.
    const auto copied = [&](const Tensor& from) { return Multiply(from, te.Const(1, from.dtype())); };
    return {out, copied(moving_mean), copied(moving_var)};
  }
  std::vector<int64_t> axes;
  Value size = 1;
  for (size_t i = 0; i < x.ndim(); ++i) {
    if (i == axis) continue;
    axes.push_back(static_cast<int64_t>(i));
    size = size * x.dim(i);
  }
  size = {te.NodeOf(size), te};
  const Tensor mean = Divide(Sum(x, axes), size);
  const Tensor wide_mean = Reshape(mean, shape);
  const auto variance = [&] {
    const Tensor left = Subtract(x, wide_mean);
    return Divide(Sum(Multiply(left, Subtract(x, wide_mean)), axes), size);
  };
  const Tensor out = NormalizeChannels(x, wide_mean, variance(), gamma, beta, shape, options);
  const auto moved = [&](const Tensor& from, const Tensor& to) {
    const Value rate = te.Const(options.momentum, to.dtype());
    return Add(Multiply(te.Const(1 - options.momentum, from.dtype()), from), Multiply(rate, to));
  };
  const Tensor new_mean = moved(moving_mean, mean);
  return {out, new_mean, moved(moving_var, variance())};
}

Tensor BatchMatmul(const Tensor& x, const Tensor& y, bool transpose_b) {
  const Value a = x.dim(0);
  const Value b = y.dim(0);
  const Value shape[] = {a.Is(1) ? b : a, x.dim(1), y.dim(transpose_b ? 1 : 2)};
  te::StageOptions options = te::PythonAxes({"b", "i", "j"});
  options.layout_free = {y};
  const te::ReduceAxis k[] = {{"k", x.dim(2)}};
  return x.te().Reduce(
      transpose_b ? "T_batch_matmul_NT" : "T_batch_matmul_NN", shape, k, te::Reducer::kSum,
      [&](Values i, Values r) {
        const Value left = x(a.Is(1) ? Value(0) : i[0], i[1], r[0]);
        const Value batch = b.Is(1) ? Value(0) : i[0];
        return left * te::Cast(x.dtype(), transpose_b ? y(batch, i[2], r[0]) : y(batch, r[0], i[2]));
      },
      options);
}

Tensor NllLoss(const Tensor& predictions, const Tensor& targets, const Tensor& weights, std::string_view reduction,
               int64_t ignore_index) {
  te::Builder& te = predictions.te();
  const bool has_batch = predictions.ndim() > 1;
  const Value zero = te.Const(0, predictions.dtype());
  // The condition of a Select counts in int64.
  const auto is_used = [&](Value target) { return te::Cast(DataType::Int(64), target) != ignore_index; };
  const Tensor losses = te.Compute("nll_loss", targets.shape(), [&](Values i) {
    const Value target = targets(i);
    std::vector<Value> at(i.begin(), i.end());
    at.insert(at.begin() + (has_batch ? 1 : 0), target);
    const Value prediction = predictions(Values(at));
    return te::Select(is_used(target), (zero - prediction) * weights(target), zero);
  });
  if (reduction != "mean") return reduction == "sum" && has_batch ? Sum(losses, std::nullopt) : losses;
  const Tensor used = te.Compute("nll_loss", targets.shape(), [&](Values i) {
    const Value target = targets(i);
    return te::Select(is_used(target), weights(target), zero);
  });
  return has_batch ? Divide(Sum(losses, std::nullopt), Sum(used, std::nullopt)) : Divide(losses, used);
}

}  // namespace iropt::topi
