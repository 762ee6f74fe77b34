// What the kernels of quantized operators share. Factors are float32, as in other runtimes: a sum that lies between two
// integers goes to the same one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "exchange/onnx/run/onnx_call.h"

namespace iropt::onnx {

// The nearest number of an integer type; ties go to even numbers. Other types have all numbers.
inline double Saturated(double value, DataType dtype) {
  if (!dtype.is_integer()) return value;
  const double whole = std::ldexp(1.0, dtype.bits);
  const double least = dtype.is_uint() ? 0 : -whole / 2;
  return std::clamp(std::nearbyint(value), least, least + whole - 1);
}

inline double Multiplier(double a_scale, double b_scale, double y_scale) {
  return static_cast<double>(static_cast<float>(a_scale) * static_cast<float>(b_scale) / static_cast<float>(y_scale));
}

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

// The elements less their zero point: one number, or one for each row (`per_row`) or column of the matrices.
Result<std::vector<double>> Centered(const OnnxCall& call, size_t input, size_t zero_input, bool per_row);

// The matrix product, with batches that broadcast as those of the shapes.
struct MatrixProduct {
  std::vector<int64_t> shape;
  std::vector<double> values;
};
Result<MatrixProduct> Multiplied(const OnnxCall& call, std::span<const int64_t> a_shape, const std::vector<double>& a,
                                 std::span<const int64_t> b_shape, const std::vector<double>& b);

}  // namespace iropt::onnx
