// Quantized operators: numbers are rounded to even ones and saturate.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"
#include "exchange/onnx/run/quantized.h"
#include "exchange/onnx/tensors.h"
#include "iropt/support/parallel.h"

namespace iropt::onnx {

namespace {

// A scale or a zero point: one number, one for each index of an axis, or one for each block along it.
struct QuantParameter {
  std::vector<double> numbers;
  std::vector<int64_t> shape;  // of the tensor
  double At(std::span<const int64_t> index, size_t axis, int64_t block) const {
    if (numbers.size() == 1) return numbers[0];
    if (shape.size() <= 1) return numbers[static_cast<size_t>(index[axis])];
    int64_t at = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      at = at * shape[i] + (i == axis && block > 0 ? index[i] / block : index[i]);
    return numbers[static_cast<size_t>(at)];
  }
};

Result<QuantParameter> ReadParameter(const OnnxCall& call, size_t input, double fallback, std::span<const int64_t> data,
                                     size_t axis, int64_t block) {
  if (!call.Has(input)) return QuantParameter{{fallback}, {}};
  IROPT_ASSIGN_OR_RETURN(std::vector<double> numbers, call.NumbersIn(input));
  QuantParameter parameter{std::move(numbers), {call.Shape(input).begin(), call.Shape(input).end()}};
  bool fits = parameter.numbers.size() == 1;
  if (!fits && parameter.shape.size() == 1) fits = axis < data.size() && parameter.shape[0] == data[axis];
  if (!fits && parameter.shape.size() == data.size() && block > 0) {
    std::vector<int64_t> expected(data.begin(), data.end());
    expected[axis] = (expected[axis] + block - 1) / block;
    fits = parameter.shape == expected;
  }
  if (!fits) return call.Fail(fmt::format("input {} does not fit the data", input));
  return parameter;
}

// Computes each element from its number, its scale and its zero point.
template <class F>
Result<HostValue> ForEachElement(OnnxCall& call, DataType dtype, F&& f) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  const std::span<const int64_t> shape = call.Shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t given = call.Int("axis", 1);
  const int64_t wanted = given < 0 ? given + rank : given;
  const auto axis = static_cast<size_t>(std::clamp<int64_t>(wanted, 0, std::max<int64_t>(0, rank - 1)));
  const int64_t block = call.Int("block_size");
  IROPT_ASSIGN_OR_RETURN(const QuantParameter scale, ReadParameter(call, 1, 1, shape, axis, block));
  IROPT_ASSIGN_OR_RETURN(const QuantParameter zero, ReadParameter(call, 2, 0, shape, axis, block));
  std::vector<double> y;
  std::vector<int64_t> index(shape.size());
  for (const double value : x) {
    y.push_back(f(value, scale.At(index, axis, block), zero.At(index, axis, block)));
    for (size_t i = index.size(); i-- > 0 && ++index[i] == shape[i];) index[i] = 0;
  }
  return HostValue(FromNumbers(dtype, shape, y, {.saturates = call.Int("saturate", 1) != 0}));
}

Result<HostValue> RunQuantizeLinear(OnnxCall& call) {
  DataType dtype = call.Dtype(2, DataType::UInt(8));
  if (call.Int("output_dtype") != 0)
    dtype = DataTypeOf(static_cast<ElementType>(call.Int("output_dtype"))).value_or(dtype);
  return ForEachElement(call, dtype, [&](double x, double scale, double zero) {
    const auto quotient = static_cast<double>(static_cast<float>(x) / static_cast<float>(scale));
    return dtype.is_integer() ? Saturated(std::nearbyint(quotient) + zero, dtype) : quotient + zero;
  });
}

Result<HostValue> RunDequantizeLinear(OnnxCall& call) {
  DataType dtype = call.Dtype(1, DataType::Float(32));
  if (call.Int("output_dtype") != 0)
    dtype = DataTypeOf(static_cast<ElementType>(call.Int("output_dtype"))).value_or(dtype);
  return ForEachElement(call, dtype, [](double x, double scale, double zero) { return (x - zero) * scale; });
}

Result<HostValue> RunDynamicQuantizeLinear(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  const DynamicRange range = QuantizeDynamically(x);
  return ResultOf(call, {FromNumbers(DataType::UInt(8), call.Shape(0), range.numbers),
                         FromNumbers(DataType::Float(32), {}, std::span(&range.scale, 1)),
                         FromNumbers(DataType::UInt(8), {}, std::span(&range.zero, 1))});
}

}  // namespace

// ---- Products

Result<double> OneNumber(const OnnxCall& call, size_t input, double fallback) {
  const int64_t count = Product(call.Shape(input));
  if (count != 1) return call.Fail(fmt::format("input {} has {} elements: expected one", input, count));
  return call.NumberIn(input, fallback);
}

Result<MatrixParameter> MatrixParameter::Read(const OnnxCall& call, size_t input, std::span<const int64_t> matrices,
                                              bool per_row) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> numbers, call.NumbersIn(input));
  std::vector<int64_t> shape(call.Shape(input).begin(), call.Shape(input).end());
  if (per_row && shape.size() == 1) shape.push_back(1);
  bool fits = shape.size() <= matrices.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    const bool is_other_axis = shape.size() - i == (per_row ? 1 : 2);
    fits = shape[i] == 1 || (!is_other_axis && shape[i] == matrices[matrices.size() - shape.size() + i]);
  }
  if (numbers.size() != 1 && !fits)
    return call.Fail(fmt::format("input {} does not fit the {}", input, per_row ? "rows" : "columns"));
  return MatrixParameter(std::move(numbers), std::move(shape), matrices);
}

double MatrixParameter::At(size_t place) const {
  return numbers_[numbers_.size() == 1 ? 0 : PlaceIn(shape_, matrices_, static_cast<int64_t>(place))];
}

Result<std::vector<double>> Centered(const OnnxCall& call, size_t input, size_t zero_input, bool per_row) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> x, call.NumbersIn(input));
  if (!call.Has(zero_input)) return x;
  IROPT_ASSIGN_OR_RETURN(const MatrixParameter zero,
                         MatrixParameter::Read(call, zero_input, call.Shape(input), per_row));
  for (size_t i = 0; i < x.size(); ++i) x[i] -= zero.At(i);
  return x;
}

Result<MatrixProduct> Multiplied(const OnnxCall& call, std::span<const int64_t> a_shape, const std::vector<double>& a,
                                 std::span<const int64_t> b_shape, const std::vector<double>& b) {
  if (a_shape.size() < 2 || b_shape.size() < 2 || a_shape.back() != b_shape[b_shape.size() - 2])
    return call.Fail("the matrices do not fit each other");
  const int64_t m = a_shape[a_shape.size() - 2];
  const int64_t k = a_shape.back();
  const int64_t n = b_shape.back();
  const std::span<const int64_t> a_batch = a_shape.first(a_shape.size() - 2);
  const std::span<const int64_t> b_batch = b_shape.first(b_shape.size() - 2);
  const std::optional<std::vector<int64_t>> batch = BroadcastShape({a_batch, b_batch});
  if (!batch) return call.Fail("the batches do not fit each other");
  MatrixProduct product{*batch, {}};
  product.shape.insert(product.shape.end(), {m, n});
  for (int64_t i = 0; i < Product(*batch); ++i) {
    const double* left = a.data() + static_cast<int64_t>(PlaceIn(a_batch, *batch, i)) * m * k;
    const double* right = b.data() + static_cast<int64_t>(PlaceIn(b_batch, *batch, i)) * k * n;
    // Sums of integers are exact in any order, and by rows they are read as they lie in memory.
    product.values.resize(product.values.size() + static_cast<size_t>(m * n));
    double* sums = product.values.data() + i * m * n;
    ParallelFor(static_cast<size_t>(m), DefaultThreadCount(), [&](size_t row) {
      const double* factors = left + static_cast<int64_t>(row) * k;
      double* out = sums + static_cast<int64_t>(row) * n;
      for (int64_t at = 0; at < k; ++at) {
        for (int64_t column = 0; column < n; ++column) out[column] += factors[at] * right[at * n + column];
      }
    });
  }
  return product;
}

Result<MatrixProduct> MultipliedIntegers(const OnnxCall& call, std::span<const int64_t> a_shape,
                                         const std::vector<double>& a, std::span<const int64_t> b_shape,
                                         const std::vector<double>& b) {
  IROPT_ASSIGN_OR_RETURN(MatrixProduct product, Multiplied(call, a_shape, a, b_shape, b));
  for (double& sum : product.values) sum = WrappedSum(sum);
  return product;
}

namespace {

Result<HostValue> RunMatMulInteger(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> a, Centered(call, 0, 2, true));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> b, Centered(call, 1, 3, false));
  IROPT_ASSIGN_OR_RETURN(const MatrixProduct product, MultipliedIntegers(call, call.Shape(0), a, call.Shape(1), b));
  return HostValue(FromNumbers(DataType::Int(32), product.shape, product.values));
}

Result<HostValue> RunQLinearMatMul(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> a, Centered(call, 0, 2, true));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> b, Centered(call, 3, 5, false));
  IROPT_ASSIGN_OR_RETURN(MatrixProduct product, MultipliedIntegers(call, call.Shape(0), a, call.Shape(3), b));
  IROPT_ASSIGN_OR_RETURN(const MatrixParameter a_scale, MatrixParameter::Read(call, 1, product.shape, true));
  IROPT_ASSIGN_OR_RETURN(const MatrixParameter b_scale, MatrixParameter::Read(call, 4, product.shape, false));
  IROPT_ASSIGN_OR_RETURN(const MatrixParameter y_scale, MatrixParameter::Read(call, 6, product.shape, true));
  IROPT_ASSIGN_OR_RETURN(const MatrixParameter y_zero, MatrixParameter::Read(call, 7, product.shape, true));
  const DataType dtype = call.Dtype(7);
  for (size_t i = 0; i < product.values.size(); ++i) {
    const double scale = Multiplier(a_scale.At(i), b_scale.At(i), y_scale.At(i));
    product.values[i] = Requantized(product.values[i], scale, y_zero.At(i), dtype);
  }
  return HostValue(FromNumbers(dtype, product.shape, product.values));
}

// ---- Convolutions of images of any rank

struct IntegerConvolution {
  std::vector<int64_t> kernel, strides, dilations, pads, in, out;
  int64_t groups = 1;
  int64_t batch = 0, channels = 0, filters = 0;
};

std::vector<int64_t> WithDefault(std::vector<int64_t> values, size_t count, int64_t fallback) {
  values.resize(count, fallback);
  return values;
}

Result<IntegerConvolution> ReadConvolution(const OnnxCall& call, std::span<const int64_t> x,
                                           std::span<const int64_t> w) {
  if (x.size() < 3 || w.size() != x.size()) return call.Fail("the image and the kernel do not fit each other");
  const size_t rank = x.size() - 2;
  IntegerConvolution conv{{w.begin() + 2, w.end()},
                          WithDefault(call.Ints("strides"), rank, 1),
                          WithDefault(call.Ints("dilations"), rank, 1),
                          WithDefault(call.Ints("pads"), 2 * rank, 0),
                          {x.begin() + 2, x.end()},
                          {},
                          call.Int("group", 1),
                          x[0],
                          x[1],
                          w[0]};
  if (conv.groups < 1 || conv.channels != w[1] * conv.groups || conv.filters % conv.groups != 0)
    return call.Fail("the channels do not fit the groups");
  const std::string_view auto_pad = call.String("auto_pad", "NOTSET");
  for (size_t i = 0; i < rank; ++i) {
    if (conv.strides[i] < 1 || conv.dilations[i] < 1) return call.Fail("a stride or dilation is not positive");
    const int64_t extent = (conv.kernel[i] - 1) * conv.dilations[i] + 1;
    if (auto_pad.starts_with("SAME")) {
      const int64_t outputs = (conv.in[i] + conv.strides[i] - 1) / conv.strides[i];
      const int64_t total = std::max<int64_t>(0, (outputs - 1) * conv.strides[i] + extent - conv.in[i]);
      conv.pads[i] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      conv.pads[rank + i] = total - conv.pads[i];
    }
    const int64_t room = conv.in[i] + conv.pads[i] + conv.pads[rank + i] - extent;
    conv.out.push_back(room < 0 ? 0 : room / conv.strides[i] + 1);
  }
  return conv;
}

bool NextPlace(std::vector<int64_t>& index, const std::vector<int64_t>& sizes) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}

// Adds what one tap of a kernel over one channel contributes to all places of a filter.
void AddTap(const IntegerConvolution& conv, const double* image, const std::vector<int64_t>& tap, double weight,
            double* out) {
  const size_t last = conv.out.size() - 1;
  const auto place_of = [&](size_t i, int64_t at) {
    return at * conv.strides[i] - conv.pads[i] + tap[i] * conv.dilations[i];
  };
  const int64_t offset = place_of(last, 0), stride = conv.strides[last], width = conv.in[last];
  const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t end = offset >= width ? 0 : std::min(conv.out[last], (width - offset - 1) / stride + 1);
  std::vector<int64_t> at(last);
  do {
    int64_t position = 0;
    bool inside = true;
    for (size_t i = 0; i < last; ++i) {
      const int64_t place = place_of(i, at[i]);
      inside = inside && place >= 0 && place < conv.in[i];
      position = position * conv.in[i] + place;
    }
    const double* row = image + (inside ? position * width : 0);
    for (int64_t i = first; inside && i < end; ++i) out[i] += weight * row[offset + i * stride];
    out += conv.out[last];
  } while (NextPlace(at, conv.out));
}

// Sums of integers are exact in any order.
std::vector<double> Convolve(const IntegerConvolution& conv, const std::vector<double>& x,
                             const std::vector<double>& w) {
  const int64_t image = Product(conv.in);
  const int64_t kernel = Product(conv.kernel);
  const int64_t places = Product(conv.out);
  const int64_t per_group = conv.channels / conv.groups;
  if (places == 0 || kernel == 0) return {};
  std::vector<double> y(static_cast<size_t>(conv.batch * conv.filters * places));
  ParallelFor(static_cast<size_t>(conv.batch * conv.filters), DefaultThreadCount(), [&](size_t plane) {
    const int64_t n = static_cast<int64_t>(plane) / conv.filters, f = static_cast<int64_t>(plane) % conv.filters;
    const int64_t first = f / (conv.filters / conv.groups) * per_group;
    const double* weight = w.data() + f * per_group * kernel;
    for (int64_t c = 0; c < per_group; ++c) {
      std::vector<int64_t> tap(conv.kernel.size());
      do {
        AddTap(conv, x.data() + (n * conv.channels + first + c) * image, tap, *weight++,
               y.data() + static_cast<int64_t>(plane) * places);
      } while (NextPlace(tap, conv.kernel));
    }
  });
  return y;
}

// The kernel less the zero point of each filter.
Result<std::vector<double>> CenteredKernel(const OnnxCall& call, size_t input, size_t zero_input) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> w, call.NumbersIn(input));
  if (!call.Has(zero_input)) return w;
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> zero, call.NumbersIn(zero_input));
  const auto filters = static_cast<size_t>(call.Shape(input).empty() ? 1 : call.Shape(input)[0]);
  if (zero.empty() || (zero.size() != 1 && zero.size() != filters))
    return call.Fail("the zero point of the kernel does not fit it");
  const size_t size = filters == 0 ? 1 : std::max<size_t>(1, w.size() / filters);
  for (size_t i = 0; i < w.size(); ++i) w[i] -= zero[zero.size() == 1 ? 0 : i / size];
  return w;
}

std::vector<int64_t> ShapeOf(const IntegerConvolution& conv) {
  std::vector<int64_t> shape = {conv.batch, conv.filters};
  shape.insert(shape.end(), conv.out.begin(), conv.out.end());
  return shape;
}

Result<HostValue> RunConvInteger(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> x, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> w, CenteredKernel(call, 1, 3));
  IROPT_ASSIGN_OR_RETURN(const double x_zero, OneNumber(call, 2, 0));
  for (double& value : x) value -= x_zero;
  IROPT_ASSIGN_OR_RETURN(const IntegerConvolution conv, ReadConvolution(call, call.Shape(0), call.Shape(1)));
  std::vector<double> sums = Convolve(conv, x, w);
  for (double& sum : sums) sum = WrappedSum(sum);
  return HostValue(FromNumbers(DataType::Int(32), ShapeOf(conv), sums));
}

Result<HostValue> RunQLinearConv(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> x, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> w, CenteredKernel(call, 3, 5));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> w_scale, call.NumbersIn(4));
  IROPT_ASSIGN_OR_RETURN(const Tensor zero, call.TensorIn(7));
  IROPT_ASSIGN_OR_RETURN(const double x_scale, OneNumber(call, 1, 1));
  IROPT_ASSIGN_OR_RETURN(const double x_zero, OneNumber(call, 2, 0));
  IROPT_ASSIGN_OR_RETURN(const double y_scale, OneNumber(call, 6, 1));
  IROPT_ASSIGN_OR_RETURN(const double y_zero, OneNumber(call, 7, 0));
  for (double& value : x) value -= x_zero;
  IROPT_ASSIGN_OR_RETURN(const IntegerConvolution conv, ReadConvolution(call, call.Shape(0), call.Shape(3)));
  std::vector<double> bias;
  if (call.Has(8)) {
    IROPT_ASSIGN_OR_RETURN(bias, call.NumbersIn(8));
  }
  const auto filters = static_cast<size_t>(conv.filters);
  if ((w_scale.size() != 1 && w_scale.size() != filters) || (!bias.empty() && bias.size() != filters))
    return call.Fail("the scale or the bias does not fit the filters");
  std::vector<double> y = Convolve(conv, x, w);
  const auto size = static_cast<size_t>(std::max<int64_t>(1, Product(conv.out)));
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t filter = i / size % filters;
    const double sum = WrappedSum(y[i] + (bias.empty() ? 0 : bias[filter]));
    const double scale = Multiplier(x_scale, w_scale[w_scale.size() == 1 ? 0 : filter], y_scale);
    y[i] = Requantized(sum, scale, y_zero, zero->dtype());
  }
  return HostValue(FromNumbers(zero->dtype(), ShapeOf(conv), y));
}

constexpr KernelRow kQuantizationKernels[] = {
    {"ConvInteger", "01", RunConvInteger},
    {"DequantizeLinear", "01", RunDequantizeLinear},
    {"com.microsoft.DequantizeLinear", "01", RunDequantizeLinear},
    {"DynamicQuantizeLinear", "0", RunDynamicQuantizeLinear},
    {"MatMulInteger", "01", RunMatMulInteger},
    {"QLinearConv", "01234567", RunQLinearConv},
    {"QLinearMatMul", "01234567", RunQLinearMatMul},
    {"QuantizeLinear", "01", RunQuantizeLinear},
    {"com.microsoft.QuantizeLinear", "01", RunQuantizeLinear},
};

}  // namespace

std::span<const KernelRow> QuantizationKernels() { return kQuantizationKernels; }

}  // namespace iropt::onnx
