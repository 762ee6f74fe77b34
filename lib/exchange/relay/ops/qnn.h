// Parts of the canonical form of quantized operators that builders of several families share.
#pragma once

#include <cstdint>
#include <utility>

#include "relay_builder.h"

namespace iropt::relay {

// The scale and the zero point of a quantized tensor: real = scale * (quantized - zero_point).
struct QuantizeParams {
  const Expr* scale = nullptr;
  const Expr* zero_point = nullptr;
};

// The least and the greatest value of a dtype of quantized tensors.
std::pair<int64_t, int64_t> QuantizedRange(DataType dtype);

// A number as m * 2^(shift - 31), where m has 31 bits.
std::pair<int32_t, int32_t> FixedPointFactor(double factor);

// value * multiplier * 2^(shift - 31) with 64 bits, rounded to the nearest integer, halves upward.
const Expr* FixedPointMultiply(RelayBuilder& relay, const Expr* value, int64_t multiplier, int64_t shift);

struct RequantizeOptions {
  DataType out_dtype;
  int64_t axis = -1;
  std::string_view rounding = "UPWARD";      // or TONEAREST
  std::string_view compute_dtype = "int64";  // or float32, float64
};

// The quantized tensor with other parameters.
const Expr* Requantize(RelayBuilder& relay, const Expr* data, QuantizeParams from, QuantizeParams to,
                       const RequantizeOptions& options);
// The quantized tensor with other parameters, in int32; only a cast if the parameters are equal.
const Expr* RequantizeOrCast(RelayBuilder& relay, const Expr* data, QuantizeParams from, QuantizeParams to,
                             int64_t axis = -1);
// Saturates to the range of the dtype.
const Expr* SaturateTo(RelayBuilder& relay, const Expr* data, DataType dtype);

const Expr* Quantize(RelayBuilder& relay, const Expr* data, QuantizeParams to, int64_t axis, DataType out_dtype);
const Expr* Dequantize(RelayBuilder& relay, const Expr* data, QuantizeParams from, int64_t axis, DataType out_dtype);

}  // namespace iropt::relay
