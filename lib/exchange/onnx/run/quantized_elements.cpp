// Quantized operators of onnxruntime on elements and images: the operands are numbers with a scale and a zero point,
// and so is the result.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"
#include "exchange/onnx/run/quantized.h"

namespace iropt::onnx {

// In float32 throughout, as other runtimes compute it.
DynamicRange QuantizeDynamically(std::span<const double> x) {
  float least = 0;
  float greatest = 0;
  for (const double value : x) {
    least = std::min(least, static_cast<float>(value));
    greatest = std::max(greatest, static_cast<float>(value));
  }
  constexpr DataType kByte = DataType::UInt(8);
  const float scale = greatest == least ? 1 : (greatest - least) / 255;
  DynamicRange range{.numbers = {}, .scale = static_cast<double>(scale)};
  // 0 / 0, if the scale is less than floats can be, and infinity / infinity become 255, as in onnxruntime.
  const float zero = -least / scale;
  range.zero = std::isnan(zero) ? 255 : Saturated(static_cast<double>(zero), kByte);
  for (const double value : x) {
    const auto quotient = static_cast<double>(static_cast<float>(value) / scale);
    range.numbers.push_back(Saturated(std::nearbyint(quotient) + range.zero, kByte));
  }
  return range;
}

std::optional<std::vector<int64_t>> BroadcastShape(std::initializer_list<std::span<const int64_t>> shapes) {
  std::vector<int64_t> result;
  for (const std::span<const int64_t> shape : shapes) {
    if (shape.size() > result.size()) result.insert(result.begin(), shape.size() - result.size(), 1);
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t& dim = result[result.size() - shape.size() + i];
      if (dim != shape[i] && dim != 1 && shape[i] != 1) return std::nullopt;
      if (dim == 1) dim = shape[i];
    }
  }
  return result;
}

size_t PlaceIn(std::span<const int64_t> shape, std::span<const int64_t> whole, int64_t place) {
  int64_t at = 0;
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t dim = shape[shape.size() - 1 - i];
    const int64_t size = whole[whole.size() - 1 - i];
    if (dim != 1) at += place % size * stride;
    stride *= dim;
    place /= size;
  }
  return static_cast<size_t>(at);
}

namespace {

// An operand: three inputs from this one on.
Result<std::vector<double>> RealNumbers(const OnnxCall& call, size_t input) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> x, call.NumbersIn(input));
  IROPT_ASSIGN_OR_RETURN(const double scale, OneNumber(call, input + 1, 1));
  IROPT_ASSIGN_OR_RETURN(const double zero, OneNumber(call, input + 2, 0));
  for (double& value : x) value = static_cast<double>(static_cast<float>(value - zero) * static_cast<float>(scale));
  return x;
}

// The result, whose scale and zero point are two inputs from this one on.
Result<HostValue> QuantizedResult(const OnnxCall& call, size_t input, DataType dtype, std::span<const int64_t> shape,
                                  std::vector<double> y) {
  IROPT_ASSIGN_OR_RETURN(const double scale, OneNumber(call, input, 1));
  IROPT_ASSIGN_OR_RETURN(const double zero, OneNumber(call, input + 1, 0));
  for (double& value : y) {
    const float quotient = static_cast<float>(value) / static_cast<float>(scale);
    value = Saturated(std::nearbyint(static_cast<double>(quotient)) + zero, dtype);
  }
  return HostValue(FromNumbers(dtype, shape, y));
}

// ---- Elements

// In float32, with the zero point added before the number is rounded: a number between two integers goes to the same
// one as in onnxruntime.
template <class F>
Result<HostValue> RunQuantizedBinary(OnnxCall& call, F&& f) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> a, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> b, call.NumbersIn(3));
  float parameters[6];  // the scale and the zero point of each operand, and of the result
  for (size_t i = 0; i < 6; ++i) {
    const size_t input = i / 2 * 3 + i % 2 + (i < 4 ? 1 : 0);
    IROPT_ASSIGN_OR_RETURN(const double number, OneNumber(call, input, i % 2 == 0 ? 1 : 0));
    parameters[i] = static_cast<float>(number);
  }
  const std::span<const int64_t> a_shape = call.Shape(0);
  const std::span<const int64_t> b_shape = call.Shape(3);
  const auto shape = BroadcastShape({a_shape, b_shape});
  if (!shape) return call.Fail("the operands cannot be broadcast");
  std::vector<double> y;
  for (int64_t i = 0; i < Product(*shape); ++i) {
    const auto left = static_cast<float>(a[PlaceIn(a_shape, *shape, i)]);
    const auto right = static_cast<float>(b[PlaceIn(b_shape, *shape, i)]);
    y.push_back(Saturated(static_cast<double>(f(left, right, parameters)), call.Dtype(0)));
  }
  return HostValue(FromNumbers(call.Dtype(0), *shape, y));
}

Result<HostValue> RunQLinearAdd(OnnxCall& call) {
  return RunQuantizedBinary(call, [](float a, float b, const float(&of)[6]) {
    const float a_ratio = of[0] / of[4], b_ratio = of[2] / of[4];
    return std::fma(b, b_ratio, std::fma(a, a_ratio, of[5] - (a_ratio * of[1] + b_ratio * of[3])));
  });
}
Result<HostValue> RunQLinearMul(OnnxCall& call) {
  return RunQuantizedBinary(call, [](float a, float b, const float(&of)[6]) {
    return (a - of[1]) * (b - of[3]) * (of[0] * of[2] / of[4]) + of[5];
  });
}

template <class F>
Result<HostValue> RunQuantizedUnary(OnnxCall& call, F&& f) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> x, RealNumbers(call, 0));
  for (double& value : x) value = f(value);
  return QuantizedResult(call, 3, call.Dtype(0), call.Shape(0), std::move(x));
}

Result<HostValue> RunQLinearSigmoid(OnnxCall& call) {
  return RunQuantizedUnary(call, [](double x) { return 1 / (1 + std::exp(-x)); });
}
Result<HostValue> RunQLinearLeakyRelu(OnnxCall& call) {
  const double alpha = call.Float("alpha", static_cast<double>(0.01F));
  return RunQuantizedUnary(call, [&](double x) { return x < 0 ? alpha * x : x; });
}

// Along the axis; before version 13 along all axes from it on, which are one.
Result<HostValue> RunQLinearSoftmax(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> x, RealNumbers(call, 0));
  const std::span<const int64_t> shape = call.Shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t given = call.Int("axis", -1);
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) return call.Fail("the axis is out of range");
  const auto at = static_cast<size_t>(axis);
  const bool is_one = call.Int("opset") < 13;
  const int64_t inner = is_one ? 1 : Product(shape.subspan(at + 1));
  const int64_t length = is_one ? Product(shape.subspan(at)) : shape[at];
  for (int64_t row = 0; row < static_cast<int64_t>(x.size()) / std::max<int64_t>(1, length); ++row) {
    double* first = x.data() + row / inner * length * inner + row % inner;
    double greatest = *first;
    for (int64_t i = 0; i < length; ++i) greatest = std::max(greatest, first[i * inner]);
    double sum = 0;
    for (int64_t i = 0; i < length; ++i) sum += first[i * inner] = std::exp(first[i * inner] - greatest);
    for (int64_t i = 0; i < length; ++i) first[i * inner] /= sum;
  }
  return QuantizedResult(call, 3, call.Dtype(0), shape, std::move(x));
}

// condition, x and its scale and zero point, y and its, those of the result
Result<HostValue> RunQLinearWhere(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> condition, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, RealNumbers(call, 1));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> y, RealNumbers(call, 4));
  const std::span<const int64_t> shapes[] = {call.Shape(0), call.Shape(1), call.Shape(4)};
  const auto shape = BroadcastShape({shapes[0], shapes[1], shapes[2]});
  if (!shape) return call.Fail("the operands cannot be broadcast");
  std::vector<double> result;
  for (int64_t i = 0; i < Product(*shape); ++i) {
    const bool is_x = condition[PlaceIn(shapes[0], *shape, i)] != 0;
    result.push_back(is_x ? x[PlaceIn(shapes[1], *shape, i)] : y[PlaceIn(shapes[2], *shape, i)]);
  }
  return QuantizedResult(call, 7, call.Dtype(1), *shape, std::move(result));
}

// The scale and the zero point of the result, and then three inputs for each part.
Result<HostValue> RunQLinearConcat(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor first, call.TensorIn(2));
  std::vector<int64_t> shape(first->shape().begin(), first->shape().end());
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t given = call.Int("axis");
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) return call.Fail("the axis is out of range");
  const auto at = static_cast<size_t>(axis);
  shape[at] = 0;
  std::vector<std::vector<double>> parts;
  std::vector<int64_t> lengths;
  for (size_t i = 2; i < call.num_inputs(); i += 3) {
    IROPT_ASSIGN_OR_RETURN(parts.emplace_back(), RealNumbers(call, i));
    const std::span<const int64_t> part = call.Shape(i);
    if (part.size() != shape.size()) return call.Fail("the parts do not fit each other");
    shape[at] += part[at];
    lengths.push_back(Product(part.subspan(at)));
  }
  std::vector<double> y;
  for (int64_t row = 0; row < Product(std::span(shape).first(at)); ++row) {
    for (size_t i = 0; i < parts.size(); ++i) {
      if ((row + 1) * lengths[i] > static_cast<int64_t>(parts[i].size()))
        return call.Fail("the parts do not fit each other");
      y.insert(y.end(), parts[i].begin() + row * lengths[i], parts[i].begin() + (row + 1) * lengths[i]);
    }
  }
  return QuantizedResult(call, 0, first->dtype(), shape, std::move(y));
}

// ---- Images

Result<HostValue> RunQLinearGlobalAveragePool(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, RealNumbers(call, 0));
  std::vector<int64_t> shape(call.Shape(0).begin(), call.Shape(0).end());
  if (shape.size() < 3) return call.Fail("the operand is not an image");
  const bool channels_last = call.Int("channels_last") != 0;
  const int64_t channels = channels_last ? shape.back() : shape[1];
  const size_t first = channels_last ? 1 : 2;
  const int64_t pixels = Product(std::span(shape).subspan(first, shape.size() - 2));
  std::vector<double> y;
  for (int64_t i = 0; i < shape[0] * channels; ++i) {
    double sum = 0;
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      const int64_t place =
          channels_last ? (i / channels * pixels + pixel) * channels + i % channels : i * pixels + pixel;
      sum += x[static_cast<size_t>(place)];
    }
    y.push_back(pixels == 0 ? 0 : sum / static_cast<double>(pixels));
  }
  std::fill_n(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.size() - 2, 1);
  return QuantizedResult(call, 3, call.Dtype(0), shape, std::move(y));
}

// Over all axes if none are given.
Result<HostValue> RunQLinearReduceMean(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, RealNumbers(call, 0));
  const std::span<const int64_t> shape = call.Shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const std::vector<int64_t> axes = call.Ints("axes");
  std::vector<bool> is_reduced(shape.size(), axes.empty());
  for (const int64_t axis : axes) {
    if (axis < -rank || axis >= rank) return call.Fail("the axis is out of range");
    is_reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  std::vector<int64_t> whole(shape.begin(), shape.end());
  std::vector<int64_t> kept;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (is_reduced[i]) whole[i] = 1;
    if (!is_reduced[i] || call.Int("keepdims", 1) != 0) kept.push_back(whole[i]);
  }
  std::vector<double> y(static_cast<size_t>(Product(whole)));
  for (size_t i = 0; i < x.size(); ++i) y[PlaceIn(whole, shape, static_cast<int64_t>(i))] += x[i];
  const double count = y.empty() ? 1 : static_cast<double>(x.size()) / static_cast<double>(y.size());
  for (double& value : y) value = count == 0 ? 0 : value / count;
  return QuantizedResult(call, 3, call.Dtype(0), kept, std::move(y));
}

// The places of a window that lie in the image, along one axis: from the first to the one after the last.
struct Places {
  int64_t first = 0;
  int64_t last = 0;
  int64_t padded = 0;  // the number with those in the padding
};

Places PlacesOf(int64_t window, int64_t kernel, int64_t stride, int64_t before, int64_t after, int64_t size) {
  const int64_t begin = window * stride - before;
  return {std::max<int64_t>(begin, 0), std::min(begin + kernel, size), std::min(begin + kernel, size + after) - begin};
}

// An image of two axes.
Result<HostValue> RunQLinearAveragePool(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, RealNumbers(call, 0));
  const std::span<const int64_t> image = call.Shape(0);
  const std::vector<int64_t> kernel = call.Ints("kernel_shape");
  std::vector<int64_t> strides = call.Ints("strides");
  std::vector<int64_t> pads = call.Ints("pads");
  strides.resize(2, 1);
  pads.resize(4, 0);
  const auto is_small = [](int64_t number) { return number <= INT32_MAX; };
  const bool are_small = std::ranges::all_of(kernel, is_small) && std::ranges::all_of(strides, is_small) &&
                         std::ranges::all_of(pads, is_small);
  const bool known = are_small && image.size() == 4 && kernel.size() == 2 &&
                     call.String("auto_pad", "NOTSET") == "NOTSET" && call.Int("channels_last") == 0 &&
                     call.Int("ceil_mode") == 0;
  if (!known || std::ranges::min(strides) < 1 || std::ranges::min(kernel) < 1 || std::ranges::min(pads) < 0)
    return call.Fail("this form of the operator cannot be run");
  std::vector<int64_t> shape = {image[0], image[1], 0, 0};
  for (size_t i = 0; i < 2; ++i)
    shape[i + 2] = std::max<int64_t>(0, (image[i + 2] + pads[i] + pads[i + 2] - kernel[i]) / strides[i] + 1);
  IROPT_RETURN_IF_ERROR(call.CheckShape(shape));
  const bool counts_padding = call.Int("count_include_pad") != 0;
  std::vector<double> y;
  IROPT_ASSIGN_OR_RETURN(const double y_scale, OneNumber(call, 3, 1));
  IROPT_ASSIGN_OR_RETURN(const double y_zero, OneNumber(call, 4, 0));
  for (int64_t plane = 0; plane < image[0] * image[1]; ++plane) {
    for (int64_t window = 0; window < shape[2] * shape[3]; ++window) {
      const Places rows = PlacesOf(window / shape[3], kernel[0], strides[0], pads[0], pads[2], image[2]);
      const Places columns = PlacesOf(window % shape[3], kernel[1], strides[1], pads[1], pads[3], image[3]);
      float sum = 0;
      for (int64_t row = rows.first; row < rows.last; ++row) {
        for (int64_t column = columns.first; column < columns.last; ++column)
          sum += static_cast<float>(x[static_cast<size_t>((plane * image[2] + row) * image[3] + column)]);
      }
      const int64_t count =
          counts_padding ? rows.padded * columns.padded : (rows.last - rows.first) * (columns.last - columns.first);
      // In float32, with the zero point added before the number is rounded.
      const float mean = count > 0 ? sum / static_cast<float>(count) : 0;
      const float shifted = mean / static_cast<float>(y_scale) + static_cast<float>(y_zero);
      y.push_back(Saturated(static_cast<double>(shifted), call.Dtype(0)));
    }
  }
  return HostValue(FromNumbers(call.Dtype(0), shape, y));
}

// ---- Products

// Adds the bias, one number for each column, if there is one.
Status AddBias(const OnnxCall& call, size_t input, MatrixProduct& product) {
  if (!call.Has(input)) return {};
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> bias, call.NumbersIn(input));
  if (static_cast<int64_t>(bias.size()) != product.shape.back()) return call.Fail("the bias does not fit the columns");
  for (size_t i = 0; i < product.values.size(); ++i) product.values[i] += bias[i % bias.size()];
  return {};
}

Status Scale(const OnnxCall& call, double scale, size_t input, MatrixProduct& product) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> scales, call.NumbersIn(input));
  const auto columns = static_cast<size_t>(product.shape.back());
  if (scales.size() != 1 && scales.size() != columns) return call.Fail("the scale does not fit the columns");
  for (size_t i = 0; i < product.values.size(); ++i)
    product.values[i] *= scale * scales[scales.size() == 1 ? 0 : i % columns];
  return {};
}

// a, b, the scales of both, their zero points, a bias
Result<HostValue> RunMatMulIntegerToFloat(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> a, Centered(call, 0, 4, true));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> b, Centered(call, 1, 5, false));
  IROPT_ASSIGN_OR_RETURN(MatrixProduct product, MultipliedIntegers(call, call.Shape(0), a, call.Shape(1), b));
  IROPT_ASSIGN_OR_RETURN(const double a_scale, OneNumber(call, 2, 1));
  IROPT_RETURN_IF_ERROR(Scale(call, a_scale, 3, product));
  IROPT_RETURN_IF_ERROR(AddBias(call, 6, product));
  IROPT_ASSIGN_OR_RETURN(const Tensor scale, call.TensorIn(2));
  return HostValue(FromNumbers(scale->dtype(), product.shape, product.values));
}

// a, b, the scale and the zero point of b, a bias
Result<HostValue> RunDynamicQuantizeMatMul(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> real, call.NumbersIn(0));
  DynamicRange a = QuantizeDynamically(real);
  for (double& value : a.numbers) value -= a.zero;
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> b, Centered(call, 1, 3, false));
  IROPT_ASSIGN_OR_RETURN(MatrixProduct product, MultipliedIntegers(call, call.Shape(0), a.numbers, call.Shape(1), b));
  IROPT_RETURN_IF_ERROR(Scale(call, a.scale, 2, product));
  IROPT_RETURN_IF_ERROR(AddBias(call, 4, product));
  return HostValue(FromNumbers(call.Dtype(0), product.shape, product.values));
}

// The elements of a matrix, transposed if the node says so.
std::vector<double> Oriented(const std::vector<double>& x, std::span<const int64_t> shape, bool transposes) {
  if (!transposes) return x;
  std::vector<double> result;
  for (int64_t column = 0; column < shape[1]; ++column) {
    for (int64_t row = 0; row < shape[0]; ++row) result.push_back(x[static_cast<size_t>(row * shape[1] + column)]);
  }
  return result;
}

std::vector<int64_t> OrientedShape(std::span<const int64_t> shape, bool transposes) {
  return transposes ? std::vector{shape[1], shape[0]} : std::vector{shape[0], shape[1]};
}

// a, b and their scales and zero points, c, the scale and the zero point of the result, without which it is of float32
Result<HostValue> RunQGemm(OnnxCall& call) {
  const bool a_turns = call.Int("transA") != 0;
  const bool b_turns = call.Int("transB") != 0;
  IROPT_ASSIGN_OR_RETURN(const Tensor a_tensor, call.TensorIn(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor b_tensor, call.TensorIn(3));
  const std::span<const int64_t> a_shape = a_tensor->shape();
  const std::span<const int64_t> b_shape = b_tensor->shape();
  if (a_shape.size() != 2 || b_shape.size() != 2) return call.Fail("the operands are not matrices");
  IROPT_ASSIGN_OR_RETURN(std::vector<double> a, Centered(call, 0, 2, true));
  IROPT_ASSIGN_OR_RETURN(std::vector<double> b, call.NumbersIn(3));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> b_zero, call.NumbersIn(5));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> b_scale, call.NumbersIn(4));
  b = Oriented(b, b_shape, b_turns);
  const std::vector<int64_t> turned = OrientedShape(b_shape, b_turns);
  const auto columns = static_cast<size_t>(turned[1]);
  const bool fits =
      (b_zero.size() == 1 || b_zero.size() == columns) && (b_scale.size() == 1 || b_scale.size() == columns);
  if (!fits) return call.Fail("the scale or the zero point does not fit the columns");
  for (size_t i = 0; i < b.size(); ++i) b[i] -= b_zero[b_zero.size() == 1 ? 0 : i % columns];
  IROPT_ASSIGN_OR_RETURN(MatrixProduct product, MultipliedIntegers(call, OrientedShape(a_shape, a_turns),
                                                                   Oriented(a, a_shape, a_turns), turned, b));
  if (call.Has(6)) {
    IROPT_ASSIGN_OR_RETURN(const std::vector<double> c, call.NumbersIn(6));
    if (BroadcastShape({product.shape, call.Shape(6)}) != product.shape)
      return call.Fail("the bias does not fit the columns");
    for (size_t i = 0; i < product.values.size(); ++i)
      product.values[i] =
          WrappedSum(product.values[i] + c[PlaceIn(call.Shape(6), product.shape, static_cast<int64_t>(i))]);
  }
  IROPT_ASSIGN_OR_RETURN(const double a_scale, OneNumber(call, 1, 1));
  IROPT_ASSIGN_OR_RETURN(const double y_scale, OneNumber(call, 7, 1));
  IROPT_ASSIGN_OR_RETURN(const double y_zero, OneNumber(call, 8, 0));
  const double scale = call.Float("alpha", 1) * a_scale;
  const DataType dtype = call.Dtype(8, DataType::Float(32));
  for (size_t i = 0; i < product.values.size(); ++i) {
    const double factor = b_scale[b_scale.size() == 1 ? 0 : i % columns];
    double& value = product.values[i];
    value = call.Has(8) ? Requantized(value, Multiplier(scale, factor, y_scale), y_zero, dtype)
                        : value * Multiplier(scale, factor, 1);
  }
  return HostValue(FromNumbers(dtype, product.shape, product.values));
}

// A matrix whose rows are blocks of numbers of few bits.
struct PackedMatrix {
  int64_t rows = 0;     // of the matrix that is packed: N
  int64_t columns = 0;  // K
  int64_t bits = 4;
  int64_t block = 32;
  int64_t blocks() const { return (columns + block - 1) / block; }
};

// The matrix [K, N] as numbers. Inputs: bytes, scales, zero points (bytes, or numbers), the groups of columns.
Result<std::vector<double>> Unpacked(const OnnxCall& call, const PackedMatrix& matrix) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> bytes, call.NumbersIn(1));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> scales, call.NumbersIn(2));
  std::vector<double> zeros;
  if (call.Has(3)) {
    IROPT_ASSIGN_OR_RETURN(zeros, call.NumbersIn(3));
  }
  const bool packed_zeros = call.Has(3) && call.Dtype(3) == DataType::UInt(8);
  std::vector<int64_t> groups;
  if (call.Has(4)) {
    IROPT_ASSIGN_OR_RETURN(groups, call.IntsIn(4));
    const auto is_group = [&](int64_t group) { return group >= 0 && group < matrix.blocks(); };
    if (static_cast<int64_t>(groups.size()) < matrix.columns || !std::ranges::all_of(groups, is_group))
      return call.Fail("the groups do not fit the columns");
  }
  const int64_t row_bytes = matrix.blocks() * matrix.block * matrix.bits / 8;
  const int64_t zero_bytes = (matrix.blocks() * matrix.bits + 7) / 8;
  const int64_t needed = matrix.rows * (packed_zeros ? zero_bytes : matrix.blocks());
  const bool fits = static_cast<int64_t>(bytes.size()) == matrix.rows * row_bytes &&
                    static_cast<int64_t>(scales.size()) >= matrix.rows * matrix.blocks() &&
                    (zeros.empty() || static_cast<int64_t>(zeros.size()) >= needed);
  if (!fits) return call.Fail("the packed matrix does not fit the attributes");
  std::vector<double> result(static_cast<size_t>(matrix.rows * matrix.columns));
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t column = 0; column < matrix.columns; ++column) {
      const int64_t block = groups.empty() ? column / matrix.block : groups[static_cast<size_t>(column)];
      const auto at = static_cast<size_t>(row * matrix.blocks() + block);
      double zero = static_cast<double>(int64_t{1} << (matrix.bits - 1));
      if (!zeros.empty()) zero = packed_zeros ? BitsAt(zeros, zero_bytes, row, block, matrix.bits) : zeros[at];
      const double value = BitsAt(bytes, row_bytes, row, column, matrix.bits);
      result[static_cast<size_t>(column * matrix.rows + row)] = (value - zero) * scales[at];
    }
  }
  return result;
}

Result<HostValue> RunMatMulNBits(OnnxCall& call) {
  const PackedMatrix matrix{.rows = call.Int("N"),
                            .columns = call.Int("K"),
                            .bits = call.Int("bits", 4),
                            .block = call.Int("block_size", 32)};
  const bool known =
      matrix.rows > 0 && matrix.columns > 0 && matrix.block > 0 && matrix.block % 8 == 0 && matrix.block <= UINT16_MAX;
  const bool knows_bits = matrix.bits == 2 || matrix.bits == 4 || matrix.bits == 8;
  if (!known || !knows_bits) return call.Fail("this form of the operator cannot be run");
  const int64_t whole[] = {matrix.rows, matrix.columns};
  IROPT_RETURN_IF_ERROR(call.CheckShape(whole));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> a, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> b, Unpacked(call, matrix));
  const int64_t b_shape[] = {matrix.columns, matrix.rows};
  IROPT_ASSIGN_OR_RETURN(MatrixProduct product, Multiplied(call, call.Shape(0), a, b_shape, b));
  IROPT_RETURN_IF_ERROR(AddBias(call, 5, product));
  return HostValue(FromNumbers(call.Dtype(0), product.shape, product.values));
}

constexpr KernelRow kQuantizedElementKernels[] = {
    {"com.microsoft.DynamicQuantizeMatMul", "012", RunDynamicQuantizeMatMul},
    {"com.microsoft.MatMulIntegerToFloat", "0123", RunMatMulIntegerToFloat},
    {"com.microsoft.MatMulNBits", "012", RunMatMulNBits},
    {"com.microsoft.QGemm", "012345", RunQGemm},
    {"com.microsoft.QLinearAdd", "01346", RunQLinearAdd},
    {"com.microsoft.QLinearAveragePool", "013", RunQLinearAveragePool},
    {"com.microsoft.QLinearConcat", "0123", RunQLinearConcat},
    {"com.microsoft.QLinearGlobalAveragePool", "013", RunQLinearGlobalAveragePool},
    {"com.microsoft.QLinearLeakyRelu", "013", RunQLinearLeakyRelu},
    {"com.microsoft.QLinearMul", "01346", RunQLinearMul},
    {"com.microsoft.QLinearReduceMean", "013", RunQLinearReduceMean},
    {"com.microsoft.QLinearSigmoid", "013", RunQLinearSigmoid},
    {"com.microsoft.QLinearSoftmax", "013", RunQLinearSoftmax},
    {"com.microsoft.QLinearWhere", "0124578", RunQLinearWhere},
};

}  // namespace

std::span<const KernelRow> QuantizedElementKernels() { return kQuantizedElementKernels; }

}  // namespace iropt::onnx
