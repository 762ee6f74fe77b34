// Functions of numbers, matrices and signals.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"
#include "exchange/onnx/tensors.h"
#include "iropt/support/function_ref.h"

namespace iropt::onnx {

namespace {

// ---- Numbers and matrices

Result<HostValue> RunRound(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> x, call.NumbersIn(0));
  for (double& value : x) value = std::nearbyint(value);  // ties go to even numbers
  return HostValue(FromNumbers(call.Dtype(0), call.Shape(0), x));
}

// The products of the elements up to each one along an axis.
Result<HostValue> RunCumProd(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> x, call.NumbersIn(0));
  const std::span<const int64_t> shape = call.Shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t given = call.IntIn(1, 0);
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) return call.Fail("the axis is out of range");
  const int64_t inner = Product(shape.subspan(static_cast<size_t>(axis) + 1));
  const int64_t length = shape[static_cast<size_t>(axis)];
  const bool exclusive = call.Int("exclusive") != 0;
  const bool reverse = call.Int("reverse") != 0;
  for (int64_t row = 0; length > 0 && row < static_cast<int64_t>(x.size()) / length; ++row) {
    double* first = x.data() + row / inner * length * inner + row % inner;
    double product = 1;
    for (int64_t i = 0; i < length; ++i) {
      double& value = first[(reverse ? length - 1 - i : i) * inner];
      const double next = product * value;
      value = exclusive ? product : next;
      product = next;
    }
  }
  return HostValue(FromNumbers(call.Dtype(0), shape, x));
}

// The row from k on with the greatest element of column k.
size_t PivotOf(const std::vector<double>& m, size_t n, size_t k) {
  size_t pivot = k;
  for (size_t i = k + 1; i < n; ++i) {
    if (std::abs(m[i * n + k]) > std::abs(m[pivot * n + k])) pivot = i;
  }
  return pivot;
}

double Determinant(std::vector<double> m, size_t n) {
  double result = 1;
  for (size_t k = 0; k < n; ++k) {
    const size_t pivot = PivotOf(m, n, k);
    if (m[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      for (size_t j = 0; j < n; ++j) std::swap(m[pivot * n + j], m[k * n + j]);
      result = -result;
    }
    result *= m[k * n + k];
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = m[i * n + k] / m[k * n + k];
      for (size_t j = k; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
    }
  }
  return result;
}

// The inverse of a matrix, by elimination with the greatest pivots; numbers that are not finite if it has none.
std::vector<double> InverseOf(std::vector<double> m, size_t n) {
  std::vector<double> inverse(n * n);
  for (size_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
  for (size_t k = 0; k < n; ++k) {
    const size_t pivot = PivotOf(m, n, k);
    const double divisor = m[pivot * n + k];
    for (std::vector<double>* rows : {&m, &inverse}) {
      for (size_t j = 0; j < n; ++j) {
        std::swap((*rows)[pivot * n + j], (*rows)[k * n + j]);
        (*rows)[k * n + j] /= divisor;
      }
    }
    for (size_t i = 0; i < n; ++i) {
      const double factor = m[i * n + k];
      if (i == k || factor == 0) continue;
      for (size_t j = 0; j < n; ++j) {
        m[i * n + j] -= factor * m[k * n + j];
        inverse[i * n + j] -= factor * inverse[k * n + j];
      }
    }
  }
  return inverse;
}

// Appends for each square matrix of the first operand what the function, which is given its elements and rows, adds to
// the numbers.
Result<std::vector<double>> MapMatrices(
    OnnxCall& call, FunctionRef<void(std::vector<double> matrix, size_t rows, std::vector<double>& numbers)> map) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  const std::span<const int64_t> shape = call.Shape(0);
  if (shape.size() < 2 || shape[shape.size() - 1] != shape[shape.size() - 2])
    return call.Fail("the matrices are not square");
  const auto rows = static_cast<size_t>(shape.back());
  std::vector<double> numbers;
  for (int64_t i = 0; i < Product(shape.first(shape.size() - 2)); ++i) {
    const auto from = x.begin() + i * static_cast<int64_t>(rows * rows);
    map({from, from + static_cast<int64_t>(rows * rows)}, rows, numbers);
  }
  return numbers;
}

Result<HostValue> RunDet(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> numbers,
                         MapMatrices(call, [](std::vector<double> matrix, size_t rows, std::vector<double>& result) {
                           result.push_back(Determinant(std::move(matrix), rows));
                         }));
  const std::span<const int64_t> shape = call.Shape(0);
  return HostValue(FromNumbers(call.Dtype(0), shape.first(shape.size() - 2), numbers));
}

Result<HostValue> RunInverse(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> numbers,
                         MapMatrices(call, [](std::vector<double> matrix, size_t rows, std::vector<double>& result) {
                           const std::vector<double> inverse = InverseOf(std::move(matrix), rows);
                           result.insert(result.end(), inverse.begin(), inverse.end());
                         }));
  return HostValue(FromNumbers(call.Dtype(0), call.Shape(0), numbers));
}

Result<HostValue> RunLrn(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  const std::span<const int64_t> shape = call.Shape(0);
  const int64_t size = call.Int("size", 1);
  if (shape.size() < 2 || size < 1) return call.Fail("the input must have channels, and the size be positive");
  const double alpha = call.Float("alpha", 0.0001);
  const double beta = call.Float("beta", 0.75);
  const double bias = call.Float("bias", 1);
  const int64_t channels = shape[1];
  const int64_t inner = Product(shape.subspan(2));
  std::vector<double> y(x.size());
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t channel = i / inner % channels;
    double sum = 0;
    const int64_t last = std::min(channels - 1, channel + size / 2);
    for (int64_t c = std::max<int64_t>(0, channel - (size - 1) / 2); c <= last; ++c) {
      const double value = x[static_cast<size_t>(i + (c - channel) * inner)];
      sum += value * value;
    }
    y[static_cast<size_t>(i)] =
        x[static_cast<size_t>(i)] / std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
  }
  return HostValue(FromNumbers(call.Dtype(0), shape, y));
}

// ---- Windows of signals

DataType DtypeAttr(const OnnxCall& call, std::string_view name, DataType fallback) {
  if (!call.FindAttr(name)) return fallback;
  return DataTypeOf(static_cast<ElementType>(call.Int(name))).value_or(fallback);
}

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n), where n is one less for symmetric windows.
Result<HostValue> MakeWindow(OnnxCall& call, double a0, double a1, double a2) {
  const auto size = call.IntIn(0, -1);
  if (size < 0 || size > INT32_MAX) return call.Fail("the size is out of range");
  const auto period = static_cast<double>(call.Int("periodic", 1) != 0 ? size : size - 1);
  std::vector<double> window;
  for (int64_t i = 0; i < size; ++i) {
    const double angle = period == 0 ? 0 : 2 * std::numbers::pi * static_cast<double>(i) / period;
    window.push_back(size == 1 && period == 0 ? 1 : a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
  }
  const int64_t shape[] = {size};
  return HostValue(FromNumbers(DtypeAttr(call, "output_datatype", DataType::Float(32)), shape, window));
}

Result<HostValue> RunHannWindow(OnnxCall& call) { return MakeWindow(call, 0.5, 0.5, 0); }
Result<HostValue> RunHammingWindow(OnnxCall& call) { return MakeWindow(call, 25.0 / 46, 1 - 25.0 / 46, 0); }
Result<HostValue> RunBlackmanWindow(OnnxCall& call) { return MakeWindow(call, 0.42, 0.5, 0.08); }

// ---- Fourier transforms

using Complex = std::complex<double>;

// The product of finite numbers: that of the library looks for infinities.
Complex Times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// The transform of signals of one length, of which one in every p samples are transformed alone for each prime factor p
// (Cooley and Tukey, 1965). O(length * sum of its prime factors).
class FourierTransform {
 public:
  FourierTransform(int64_t length, bool inverse) : scale_(inverse ? 1 / static_cast<double>(length) : 1) {
    const double turn = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(length);
    for (int64_t i = 0; i < length; ++i) roots_.push_back(std::polar(1.0, turn * static_cast<double>(i)));
    scratch_.resize(roots_.size());
  }

  std::vector<Complex> Of(const std::vector<Complex>& signal) {
    std::vector<Complex> result(roots_.size());
    Transform(signal.data(), 1, result, scratch_);
    for (Complex& value : result) value *= scale_;
    return result;
  }

 private:
  static size_t LeastFactor(size_t n) {
    for (size_t p = 2; p * p <= n; ++p) {
      if (n % p == 0) return p;
    }
    return n;
  }

  // Of every step-th sample.
  void Transform(const Complex* signal, size_t step, std::span<Complex> result, std::span<Complex> scratch) {
    const size_t n = result.size();
    if (n == 1) {
      result[0] = signal[0];
      return;
    }
    const size_t p = LeastFactor(n);
    const size_t m = n / p;
    for (size_t q = 0; q < p; ++q)
      Transform(signal + q * step, step * p, scratch.subspan(q * m, m), result.subspan(q * m, m));
    for (size_t k = 0; k < n; ++k) {
      Complex sum = scratch[k % m];
      size_t root = 0;
      for (size_t q = 1; q < p; ++q) {
        root += k * step;
        if (root >= roots_.size()) root -= roots_.size();
        sum += Times(scratch[q * m + k % m], roots_[root]);
      }
      result[k] = sum;
    }
  }

  double scale_;
  std::vector<Complex> roots_;
  std::vector<Complex> scratch_;
};

// The last dimension holds a real number, or a real and an imaginary part.
Complex ComplexAt(const std::vector<double>& x, int64_t at, int64_t parts) {
  const auto i = static_cast<size_t>(at * parts);
  return {x[i], parts == 2 ? x[i + 1] : 0};
}

Result<HostValue> RunDft(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  std::vector<int64_t> shape(call.Shape(0).begin(), call.Shape(0).end());
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t given = call.opset() < 20 ? call.Int("axis", 1) : call.IntIn(2, -2);
  const int64_t axis = given < 0 ? given + rank : given;
  if (rank < 2 || axis < 0 || axis >= rank - 1 || shape.back() < 1 || shape.back() > 2)
    return call.Fail("the axis is out of range, or the last dimension is not 1 or 2");
  const int64_t parts = shape.back();
  const auto at = static_cast<size_t>(axis);
  const int64_t in = shape[at];
  const auto length = call.IntIn(1, in);
  if (length < 1 || length > INT32_MAX) return call.Fail("the length is out of range");
  const int64_t out = call.Int("onesided") != 0 ? length / 2 + 1 : length;
  const int64_t outer = Product(std::span(shape).first(at));
  const int64_t inner = Product(std::span(shape).subspan(at + 1)) / parts;
  shape[at] = out;
  shape.back() = 2;
  IROPT_RETURN_IF_ERROR(call.CheckShape(shape));
  std::vector<double> y(static_cast<size_t>(Product(shape)));
  FourierTransform transform(length, call.Int("inverse") != 0);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t k = 0; k < inner; ++k) {
      std::vector<Complex> signal(static_cast<size_t>(length));
      for (int64_t i = 0; i < std::min(in, length); ++i)
        signal[static_cast<size_t>(i)] = ComplexAt(x, (o * in + i) * inner + k, parts);
      const std::vector<Complex> result = transform.Of(signal);
      for (int64_t i = 0; i < out; ++i) {
        const auto to = static_cast<size_t>(((o * out + i) * inner + k) * 2);
        y[to] = result[static_cast<size_t>(i)].real();
        y[to + 1] = result[static_cast<size_t>(i)].imag();
      }
    }
  }
  return HostValue(FromNumbers(call.Dtype(0), shape, y));
}

Result<HostValue> RunStft(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  const std::span<const int64_t> shape = call.Shape(0);
  if (shape.size() < 2 || shape.size() > 3) return call.Fail("the signals must be a tensor of rank 2 or 3");
  const int64_t parts = shape.size() == 3 ? shape[2] : 1;
  const auto step = call.IntIn(1, 0);
  std::vector<double> window;
  if (call.Has(2)) {
    IROPT_ASSIGN_OR_RETURN(window, call.NumbersIn(2));
  }
  const auto length = call.IntIn(3, static_cast<int64_t>(window.size()));
  window.resize(static_cast<size_t>(std::clamp<int64_t>(length, 0, INT32_MAX)), 1);
  if (step < 1 || length < 1 || length > shape[1] || parts < 1 || parts > 2)
    return call.Fail("the step or the length is out of range");
  const int64_t frames = (shape[1] - length) / step + 1;
  const int64_t out = call.Int("onesided", 1) != 0 ? length / 2 + 1 : length;
  std::vector<double> y;
  FourierTransform transform(length, false);
  for (int64_t b = 0; b < shape[0]; ++b) {
    for (int64_t frame = 0; frame < frames; ++frame) {
      std::vector<Complex> signal;
      for (int64_t i = 0; i < length; ++i)
        signal.push_back(ComplexAt(x, b * shape[1] + frame * step + i, parts) * window[static_cast<size_t>(i)]);
      const std::vector<Complex> values = transform.Of(signal);
      for (const Complex& value : std::span(values).first(static_cast<size_t>(out)))
        y.insert(y.end(), {value.real(), value.imag()});
    }
  }
  const int64_t result[] = {shape[0], frames, out, 2};
  return HostValue(FromNumbers(call.Dtype(0), result, y));
}

Result<HostValue> RunMelWeightMatrix(OnnxCall& call) {
  const auto bins = call.IntIn(0, 0);
  const auto length = call.IntIn(1, 0);
  const double rate = call.NumberIn(2, 0);
  const auto to_mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = to_mel(call.NumberIn(3, 0));
  const double high = to_mel(call.NumberIn(4, 0));
  if (bins < 1 || length < 1 || bins > UINT16_MAX || length > INT32_MAX || rate <= 0)
    return call.Fail("a size is out of range");
  const int64_t rows = length / 2 + 1;
  const int64_t shape[] = {rows, bins};
  IROPT_RETURN_IF_ERROR(call.CheckShape(shape));
  std::vector<int64_t> places;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double mel = low + (high - low) / static_cast<double>(bins + 2) * static_cast<double>(i);
    const double hertz = 700 * (std::pow(10, mel / 2595) - 1);
    places.push_back(static_cast<int64_t>(static_cast<double>(length + 1) * hertz / rate));
  }
  std::vector<double> y(static_cast<size_t>(rows * bins));
  for (int64_t bin = 0; bin < bins; ++bin) {
    const int64_t left = places[static_cast<size_t>(bin)];
    const int64_t center = places[static_cast<size_t>(bin) + 1];
    const int64_t right = places[static_cast<size_t>(bin) + 2];
    const auto set = [&](int64_t row, double value) {
      if (row >= 0 && row < rows) y[static_cast<size_t>(row * bins + bin)] = value;
    };
    if (center == left) set(center, 1);
    for (int64_t row = left; row <= center && center != left; ++row)
      set(row, static_cast<double>(row - left) / static_cast<double>(center - left));
    for (int64_t row = center; row < right; ++row)
      set(row, static_cast<double>(right - row) / static_cast<double>(right - center));
  }
  return HostValue(FromNumbers(DtypeAttr(call, "output_datatype", DataType::Float(32)), shape, y));
}

constexpr KernelRow kMathematicsKernels[] = {
    {"BlackmanWindow", "0", RunBlackmanWindow},
    {"CumProd", "01", RunCumProd},
    {"DFT", "0", RunDft},
    {"Det", "0", RunDet},
    {"HammingWindow", "0", RunHammingWindow},
    {"HannWindow", "0", RunHannWindow},
    {"LRN", "0", RunLrn},
    {"MelWeightMatrix", "01234", RunMelWeightMatrix},
    {"Round", "0", RunRound},
    {"STFT", "01", RunStft},
    {"com.microsoft.Inverse", "0", RunInverse},
};

}  // namespace

std::span<const KernelRow> MathematicsKernels() { return kMathematicsKernels; }

}  // namespace iropt::onnx
