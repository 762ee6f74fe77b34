// What the kernels of quantized operators share. Factors are float32, as in other runtimes: a sum that lies between two
// integers goes to the same one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "exchange/onnx/run/onnx_call.h"

namespace iropt::onnx {

// The nearest number of an integer type; ties go to even numbers, and NaN to the least one. Other types have all
// numbers.
inline double Saturated(double value, DataType dtype) {
  if (!dtype.is_integer()) return value;
  const double whole = std::ldexp(1.0, dtype.bits);
  const double least = dtype.is_uint() ? 0 : -whole / 2;
  return std::isnan(value) ? least : std::clamp(std::nearbyint(value), least, least + whole - 1);
}

inline double Multiplier(double a_scale, double b_scale, double y_scale) {
  return static_cast<double>(static_cast<float>(a_scale) * static_cast<float>(b_scale) / static_cast<float>(y_scale));
}

// The value of a sum of integers in int32, in which sums out of its range wrap around, as in onnxruntime.
inline double WrappedSum(double sum) { return static_cast<double>(static_cast<int32_t>(static_cast<int64_t>(sum))); }

// A sum in the scale and with the zero point of the result.
inline double Requantized(double sum, double multiplier, double zero, DataType dtype) {
  const float scaled = static_cast<float>(sum) * static_cast<float>(multiplier);
  return Saturated(std::nearbyint(static_cast<double>(scaled)) + zero, dtype);
}

// Numbers of uint8 with the scale and the zero point that cover them and 0.
struct DynamicRange {
  std::vector<double> numbers;
  double scale = 0;
  double zero = 0;
};
DynamicRange QuantizeDynamically(std::span<const double> x);

// An input that must be one number; the fallback if it is left out.
Result<double> OneNumber(const OnnxCall& call, size_t input, double fallback);

// A scale or a zero point of matrices: one number, or one for each row (a vector, or [..., M, 1]) or column (a vector,
// or [..., 1, N]), in each of the matrices or in all of them.
class MatrixParameter {
 public:
  // For matrices of the shape. An error if the input is left out or does not fit them.
  static Result<MatrixParameter> Read(const OnnxCall& call, size_t input, std::span<const int64_t> matrices,
                                      bool per_row);
  // For the element of the matrices at this place.
  double At(size_t place) const;

 private:
  MatrixParameter(std::vector<double> numbers, std::vector<int64_t> shape, std::span<const int64_t> matrices)
      : numbers_(std::move(numbers)), shape_(std::move(shape)), matrices_(matrices.begin(), matrices.end()) {}
  std::vector<double> numbers_;
  std::vector<int64_t> shape_, matrices_;
};

// The shape to which shapes broadcast; nullopt if they do not.
std::optional<std::vector<int64_t>> BroadcastShape(std::initializer_list<std::span<const int64_t>> shapes);
// The place in a tensor of the element at a place of what it broadcasts to.
size_t PlaceIn(std::span<const int64_t> shape, std::span<const int64_t> whole, int64_t place);

// The elements less their zero point, which may be left out.
Result<std::vector<double>> Centered(const OnnxCall& call, size_t input, size_t zero_input, bool per_row);

// The number of `bits` bits in a row of a matrix whose bytes hold several, the low ones first.
inline double BitsAt(const std::vector<double>& bytes, int64_t row_bytes, int64_t row, int64_t column, int64_t bits) {
  const int64_t per_byte = 8 / bits;
  const auto byte = static_cast<unsigned>(bytes[static_cast<size_t>(row * row_bytes + column / per_byte)]);
  return static_cast<double>(byte >> (column % per_byte * bits) & ((1U << bits) - 1));
}

// The matrix product, with batches that broadcast as those of the shapes.
struct MatrixProduct {
  std::vector<int64_t> shape;
  std::vector<double> values;
};
Result<MatrixProduct> Multiplied(const OnnxCall& call, std::span<const int64_t> a_shape, const std::vector<double>& a,
                                 std::span<const int64_t> b_shape, const std::vector<double>& b);
// The same of integers, with sums in int32.
Result<MatrixProduct> MultipliedIntegers(const OnnxCall& call, std::span<const int64_t> a_shape,
                                         const std::vector<double>& a, std::span<const int64_t> b_shape,
                                         const std::vector<double>& b);

}  // namespace iropt::onnx
