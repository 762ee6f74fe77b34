// Quantization, and changes of its parameters, in the arithmetic of TVM's canonical form.
#include <algorithm>
#include <cmath>

#include "iropt/ir/number_format.h"
#include "qnn.h"

namespace iropt::relay {

namespace {

using Value = const Expr*;

constexpr int64_t kFractionBits = 31;

int64_t RightShiftOf(int64_t shift) { return kFractionBits + (shift > 0 ? 0 : -shift); }

// The constant on every element of a tensor like another one; where its dimensions are unknown, the constant
// broadcasts.
Value FullLike(RelayBuilder& relay, Value constant, Value tensor) {
  const auto shape = StaticDimsOf(tensor);
  if (!shape) return constant;
  return relay.call().Relay("full", {constant},
                            {{"shape", relay.call().ListOf(*shape)}, {"dtype", relay.call().DTypeValue(kInt64)}});
}

Value ZerosLike(RelayBuilder& relay, Value tensor) {
  const auto shape = StaticDimsOf(tensor);
  if (!shape) return relay.Int(0, kInt64);
  return relay.call().Relay("zeros", {},
                            {{"shape", relay.call().ListOf(*shape)}, {"dtype", relay.call().DTypeValue(kInt64)}});
}

Value BroadcastLike(RelayBuilder& relay, Value value, Value tensor) {
  const auto shape = StaticDimsOf(tensor);
  return shape ? relay.call().Relay("broadcast_to", {value}, {{"shape", relay.call().ListOf(*shape)}}) : value;
}

// Halves away from zero.
Value MultiplyToNearest(RelayBuilder& relay, Value value, double factor) {
  const auto [multiplier, shift] = FixedPointFactor(factor);
  Value product = relay.Cast(value, kInt64);
  if (shift > 0) product = relay.LeftShift(product, relay.Int(shift, kInt64));
  product = relay.Multiply(product, relay.Int(multiplier, kInt64));
  const int64_t total = RightShiftOf(shift);
  const int64_t half = int64_t{1} << (total - 1);
  Value up = FullLike(relay, relay.Int(half, kInt64), value);
  Value down = FullLike(relay, relay.Int(half - 1, kInt64), value);
  Value rounder = relay.Where(relay.GreaterEqual(product, ZerosLike(relay, value)), up, down);
  return relay.Cast(relay.RightShift(relay.Add(product, rounder), relay.Int(total, kInt64)), kInt32);
}

// One factor for each element along the axis.
class PerChannelFactors {
 public:
  PerChannelFactors(RelayBuilder& relay, std::span<const double> factors, int64_t axis, int rank)
      : relay_(relay), axis_(axis), rank_(rank) {
    for (const double factor : factors) {
      const auto [multiplier, shift] = FixedPointFactor(factor);
      multipliers_.push_back(multiplier);
      left_.push_back(shift > 0 ? shift : 0);
      right_.push_back(shift > 0 ? 0 : -shift);
      shifts_left_ |= shift > 0;
      shifts_right_ |= shift < 0;
    }
  }

  Value MultiplyUpward(Value value) {
    const Value operands[] = {value, relay_.Vector(multipliers_, kInt32), relay_.Vector(left_, kInt32),
                              relay_.Vector(right_, kInt32)};
    return relay_.call().Relay("fixed_point_multiply_per_axis", operands,
                               {{"is_lshift_required", shifts_left_},
                                {"is_rshift_required", shifts_right_},
                                {"axes", relay_.call().ListOf({axis_})}});
  }

  Value MultiplyToNearest(Value value) {
    Value product = relay_.Cast(value, kInt64);
    if (shifts_left_) product = relay_.LeftShift(product, Along(left_));
    product = relay_.Multiply(product, Along(multipliers_));
    std::vector<int64_t> total, half, below_half;
    for (const int64_t shift : right_) {
      total.push_back(shift + kFractionBits);
      half.push_back(int64_t{1} << (total.back() - 1));
      below_half.push_back(half.back() - 1);
    }
    Value up = BroadcastLike(relay_, Along(half), value);
    Value down = BroadcastLike(relay_, Along(below_half), value);
    Value rounder = relay_.Where(relay_.GreaterEqual(product, ZerosLike(relay_, value)), up, down);
    return relay_.Cast(relay_.RightShift(relay_.Add(product, rounder), Along(total)), kInt32);
  }

 private:
  Value Along(std::span<const int64_t> values) { return relay_.AlongAxis(relay_.Vector(values, kInt64), axis_, rank_); }

  RelayBuilder& relay_;
  int64_t axis_;
  int rank_;
  std::vector<int64_t> multipliers_, left_, right_;
  bool shifts_left_ = false;
  bool shifts_right_ = false;
};

// Halves away from zero; what is not finite stays.
Value RoundToNearest(RelayBuilder& relay, Value x, int bits) {
  const DataType dtype = DataType::Float(bits);
  Value sign = relay.Where(relay.Less(x, relay.Float(0, dtype)), relay.Float(-1, dtype), relay.Float(1, dtype));
  Value biased = relay.Add(x, relay.Multiply(relay.Float(0.5, dtype), sign));
  Value magnitude = relay.Cast(relay.Multiply(biased, sign), DataType::Int(bits));
  Value rounded = relay.Multiply(relay.Cast(magnitude, dtype), sign);
  return relay.Where(relay.Unary("isfinite", x), rounded, x);
}

// Halves upward.
Value RoundUpward(RelayBuilder& relay, Value x, int bits) {
  const DataType dtype = DataType::Float(bits);
  Value biased = relay.Add(x, relay.Float(0.5, dtype));
  Value truncated = relay.Cast(relay.Cast(biased, DataType::Int(bits)), dtype);
  Value is_floor = relay.LogicalOr(relay.Equal(biased, truncated), relay.GreaterEqual(biased, relay.Float(0, dtype)));
  Value rounded = relay.Where(is_floor, truncated, relay.Subtract(truncated, relay.Float(1, dtype)));
  return relay.Where(relay.Unary("isfinite", x), rounded, x);
}

class Requantizer {
 public:
  Requantizer(RelayBuilder& relay, QuantizeParams from, QuantizeParams to, const RequantizeOptions& options, int rank)
      : relay_(relay), from_(from), to_(to), options_(options), rank_(rank) {
    axis_ = options.axis < 0 ? std::max<int64_t>(rank + options.axis, 0) : options.axis;
  }

  Value Run(Value data) {
    const auto from = ConstantNumbers(from_.scale);
    const auto to = ConstantNumbers(to_.scale);
    if (!from || from->empty() || !to || to->empty())
      return relay_.call().NoCounterpart("requantization with a scale that is not a constant");
    if (to->front() == 0) return relay_.call().Error("bad-argument", "the output scale is zero");
    if (options_.rounding != "UPWARD" && options_.rounding != "TONEAREST")
      return relay_.call().Error("bad-argument", "rounding is UPWARD or TONEAREST");
    for (const double scale : *from) factors_.push_back(scale / to->front());
    if (options_.compute_dtype == "int64") return WithIntegers(data);
    if (options_.compute_dtype == "float32") return WithFloats(data, 32);
    if (options_.compute_dtype == "float64") return WithFloats(data, 64);
    return relay_.call().Error("bad-argument", "compute_dtype is int64, float32 or float64");
  }

 private:
  bool upward() const { return options_.rounding == "UPWARD"; }
  bool is_per_channel() const { return !IsConstantScalar(from_.scale); }
  bool changes_scale() const { return is_per_channel() || !AreEqualScalars(from_.scale, to_.scale); }

  // The data without its zero point.
  Value Centered(Value data, DataType dtype) {
    Value centered = relay_.Cast(data, dtype);
    if (AreEqualScalars(from_.zero_point, relay_.Int(0))) return centered;
    Value zero_point = relay_.AlongAxis(relay_.Reshape(from_.zero_point, {-1}), axis_, rank_);
    return relay_.Subtract(centered, relay_.Cast(zero_point, dtype));
  }

  Value WithIntegers(Value data) {
    Value scaled = Centered(data, kInt32);
    if (is_per_channel()) {
      PerChannelFactors factors(relay_, factors_, axis_, rank_);
      scaled = upward() ? factors.MultiplyUpward(scaled) : factors.MultiplyToNearest(scaled);
    } else if (changes_scale()) {
      const auto [multiplier, shift] = FixedPointFactor(factors_.front());
      scaled = upward() ? relay_.call().Relay("fixed_point_multiply", {scaled},
                                              {{"multiplier", multiplier}, {"shift", shift}})
                        : MultiplyToNearest(relay_, scaled, factors_.front());
    }
    if (!AreEqualScalars(to_.zero_point, relay_.Int(0)))
      scaled = relay_.Add(relay_.Cast(to_.zero_point, kInt32), scaled);
    return options_.out_dtype == kInt32 ? scaled : SaturateTo(relay_, scaled, options_.out_dtype);
  }

  Value WithFloats(Value data, int bits) {
    const DataType dtype = DataType::Float(bits);
    Value scaled = Centered(data, dtype);
    if (is_per_channel()) {
      scaled = relay_.Multiply(scaled, relay_.AlongAxis(relay_.Vector(factors_, dtype), axis_, rank_));
    } else if (changes_scale()) {
      scaled = relay_.Multiply(relay_.Float(factors_.front(), dtype), scaled);
    }
    if (!AreEqualScalars(to_.zero_point, relay_.Int(0)))
      scaled = relay_.Add(scaled, relay_.Cast(to_.zero_point, dtype));
    scaled = upward() ? RoundUpward(relay_, scaled, bits) : RoundToNearest(relay_, scaled, bits);
    scaled = relay_.Cast(scaled, kInt32);
    return options_.out_dtype == kInt32 ? scaled : SaturateTo(relay_, scaled, options_.out_dtype);
  }

  RelayBuilder& relay_;
  QuantizeParams from_;
  QuantizeParams to_;
  RequantizeOptions options_;
  int rank_;
  int64_t axis_ = 0;
  std::vector<double> factors_;
};

// A scale or a zero point, so that it broadcasts along the axis.
Value Expanded(RelayBuilder& relay, Value param, int64_t axis, int rank) {
  if (RankOf(param) == 0) return param;
  return relay.AlongAxis(param, axis < 0 ? axis + rank : axis, rank);
}

}  // namespace

std::pair<int64_t, int64_t> QuantizedRange(DataType dtype) {
  if (dtype.is_uint()) return {0, (int64_t{1} << std::min<int>(dtype.bits, 32)) - 1};
  const int64_t most = (int64_t{1} << (std::min<int>(dtype.bits, 32) - 1)) - 1;
  return {-most - 1, most};
}

std::pair<int32_t, int32_t> FixedPointFactor(double factor) {
  if (factor == 0 || !std::isfinite(factor)) return {0, 0};
  int exponent = 0;
  auto significand = static_cast<int64_t>(std::round(std::frexp(factor, &exponent) * (int64_t{1} << kFractionBits)));
  if (significand == int64_t{1} << kFractionBits) {
    significand /= 2;
    ++exponent;
  }
  // A factor that is this small leaves nothing.
  if (exponent < -kFractionBits) return {0, 0};
  return {static_cast<int32_t>(significand), exponent};
}

const Expr* FixedPointMultiply(RelayBuilder& relay, const Expr* value, int64_t multiplier, int64_t shift) {
  if (shift < -kFractionBits || shift >= kFractionBits)
    return relay.call().Error("bad-argument", "the shift is not between -31 and 30");
  Value product = relay.Cast(value, kInt64);
  if (shift > 0) product = relay.LeftShift(product, relay.Int(shift, kInt64));
  product = relay.Multiply(product, relay.Int(multiplier, kInt64));
  const int64_t total = RightShiftOf(shift);
  product = relay.Add(product, relay.Int(int64_t{1} << (total - 1), kInt64));
  return relay.Cast(relay.RightShift(product, relay.Int(total, kInt64)), kInt32);
}

const Expr* Requantize(RelayBuilder& relay, const Expr* data, QuantizeParams from, QuantizeParams to,
                       const RequantizeOptions& options) {
  const int rank = RankOf(data);
  if (data == nullptr || rank == kUnknownDim)
    return relay.call().Error("type-inference", "the rank of the operand is unknown");
  return Requantizer(relay, from, to, options, rank).Run(data);
}

const Expr* RequantizeOrCast(RelayBuilder& relay, const Expr* data, QuantizeParams from, QuantizeParams to,
                             int64_t axis) {
  if (AreEqualScalars(from.scale, to.scale) && AreEqualScalars(from.zero_point, to.zero_point))
    return relay.Cast(data, kInt32);
  return Requantize(relay, data, from, to, {.out_dtype = kInt32, .axis = axis});
}

const Expr* SaturateTo(RelayBuilder& relay, const Expr* data, DataType dtype) {
  const auto [least, most] = QuantizedRange(dtype);
  return relay.Cast(relay.Clip(data, static_cast<double>(least), static_cast<double>(most)), dtype);
}

const Expr* Quantize(RelayBuilder& relay, const Expr* data, QuantizeParams to, int64_t axis, DataType out_dtype) {
  const int rank = RankOf(data);
  Value scale = Expanded(relay, to.scale, axis, rank);
  Value zero_point = Expanded(relay, to.zero_point, axis, rank);
  Value rounded = relay.Unary("round", relay.Divide(data, scale));
  return SaturateTo(relay, relay.Add(rounded, relay.Cast(zero_point, kFloat32)), out_dtype);
}

const Expr* Dequantize(RelayBuilder& relay, const Expr* data, QuantizeParams from, int64_t axis, DataType out_dtype) {
  const int rank = RankOf(data);
  Value scale = Expanded(relay, from.scale, axis, rank);
  Value zero_point = Expanded(relay, from.zero_point, axis, rank);
  Value centered = relay.Subtract(relay.Cast(data, kInt32), zero_point);
  Value real = relay.Multiply(relay.Cast(centered, kFloat32), scale);
  if (out_dtype == kFloat32) return real;
  const double largest = GreatestOf(*FormatOfDType(DataType::Float(16)));
  return relay.Cast(relay.Clip(real, -largest, largest), out_dtype);
}

}  // namespace iropt::relay
