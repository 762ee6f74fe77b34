// Quantized operators of tensors, element by element, as integer arithmetic.
#include "qnn.h"

#include <cmath>

namespace iropt::relay {

namespace {

using Value = const Expr*;

DataType OutDType(OpCall& call, DataType otherwise) {
  const auto dtype = DataType::Parse(call.String("out_dtype"));
  return dtype && !dtype->is_void() ? *dtype : otherwise;
}

// ---- Quantization

const Expr* BuildQuantize(OpCall& call) {
  RelayBuilder relay(call);
  return Quantize(relay, call.arg(0), {call.arg(1), call.arg(2)}, call.Int("axis"), OutDType(call, DataType::Int(8)));
}

const Expr* BuildDequantize(OpCall& call) {
  RelayBuilder relay(call);
  return Dequantize(relay, call.arg(0), {call.arg(1), call.arg(2)}, call.Int("axis"), OutDType(call, kFloat32));
}

// "None" stands for the default.
std::string_view OptionOr(OpCall& call, std::string_view name, std::string_view otherwise) {
  const std::string_view value = call.String(name);
  return value.empty() || value == "None" ? otherwise : value;
}

const Expr* BuildRequantize(OpCall& call) {
  RelayBuilder relay(call);
  const RequantizeOptions options{.out_dtype = OutDType(call, DataType::Int(8)),
                                  .axis = call.Int("axis"),
                                  .rounding = OptionOr(call, "rounding", "UPWARD"),
                                  .compute_dtype = OptionOr(call, "compute_dtype", "int64")};
  return Requantize(relay, call.arg(0), {call.arg(1), call.arg(2)}, {call.arg(3), call.arg(4)}, options);
}

// The codes of dtypes that the simulated operators take.
constexpr int64_t kInt8Code = 1;
constexpr int64_t kUInt8Code = 2;
constexpr int64_t kInt32Code = 3;

// A parameter along the axis; one with a single element stands for all of them.
Value SimulatedParam(RelayBuilder& relay, Value param, Value data) {
  OpCall& call = relay.call();
  const auto dims = StaticDimsOf(param);
  const int rank = RankOf(data);
  if (dims && dims->size() == 1 && dims->front() == 1) param = relay.Reshape(param, {1});
  const int64_t axis = call.Int("axis");
  return RankOf(param) == 1 && dims && dims->front() != 1 ? relay.AlongAxis(param, axis < 0 ? axis + rank : axis, rank)
                                                          : param;
}

const Expr* BuildSimulatedQuantize(OpCall& call) {
  RelayBuilder relay(call);
  Value data = call.arg(0);
  const DataType dtype = DTypeOf(data);
  Value scaled = relay.Divide(data, call.Cast(SimulatedParam(relay, call.arg(2), data), dtype));
  Value zero_point = call.Cast(SimulatedParam(relay, call.arg(3), data), dtype);
  Value quantized = relay.Add(relay.Unary("round", scaled), zero_point);
  Value result = data;
  constexpr std::pair<int64_t, DataType> kCodes[] = {
      {kInt8Code, DataType::Int(8)}, {kUInt8Code, DataType::UInt(8)}, {kInt32Code, DataType::Int(32)}};
  for (const auto& [code, of_code] : kCodes) {
    const auto [least, most] = QuantizedRange(of_code);
    Value saturated = relay.Clip(quantized, static_cast<double>(least), static_cast<double>(most));
    result = relay.Where(relay.Equal(call.arg(1), relay.Int(code, DTypeOf(call.arg(1)))), saturated, result);
  }
  return result;
}

const Expr* BuildSimulatedDequantize(OpCall& call) {
  RelayBuilder relay(call);
  Value data = call.arg(0);
  const DataType dtype = DTypeOf(data);
  Value scale = call.Cast(SimulatedParam(relay, call.arg(2), data), dtype);
  Value zero_point = call.Cast(SimulatedParam(relay, call.arg(3), data), dtype);
  Value real = relay.Multiply(relay.Subtract(data, zero_point), scale);
  Value is_known = nullptr;
  for (const int64_t code : {kInt8Code, kUInt8Code, kInt32Code}) {
    Value is_code = relay.Equal(call.arg(1), relay.Int(code, DTypeOf(call.arg(1))));
    is_known = is_known ? relay.LogicalOr(is_known, is_code) : is_code;
  }
  return relay.Where(is_known, real, data);
}

// ---- Operators of one tensor

// The operator of floats, between a dequantization and a quantization.
const Expr* BuildQuantizedUnary(OpCall& call) {
  RelayBuilder relay(call);
  constexpr size_t kPrefix = std::string_view("qnn.").size();
  Value real = Dequantize(relay, call.arg(0), {call.arg(1), call.arg(2)}, -1, kFloat32);
  real = relay.Unary(call.row().name.substr(kPrefix), real);
  return Quantize(relay, real, {call.arg(3), call.arg(4)}, -1, DTypeOf(call.arg(0)));
}

Value MultiplyByFactor(RelayBuilder& relay, Value value, double factor) {
  const auto [multiplier, shift] = FixedPointFactor(factor);
  return relay.call().Relay("fixed_point_multiply", {value}, {{"multiplier", multiplier}, {"shift", shift}});
}

// alpha * q + (1 - alpha) * zero_point of the output, below the zero point of the input.
const Expr* BuildQuantizedLeakyRelu(OpCall& call) {
  RelayBuilder relay(call);
  Value data = relay.Cast(call.arg(0), kInt32);
  const QuantizeParams from{call.arg(1), relay.Cast(call.arg(2), kInt32)};
  const QuantizeParams to{call.arg(3), relay.Cast(call.arg(4), kInt32)};
  Value requantized = RequantizeOrCast(relay, data, from, to);
  const double alpha = call.Float("alpha");
  Value below =
      relay.Add(MultiplyByFactor(relay, requantized, alpha), MultiplyByFactor(relay, to.zero_point, 1 - alpha));
  Value result = relay.Where(relay.Less(data, from.zero_point), below, requantized);
  return SaturateTo(relay, result, DTypeOf(call.arg(0)));
}

// The exponential of integers as a shift and a linear part.
const Expr* BuildQuantizedSoftmax(OpCall& call) {
  RelayBuilder relay(call);
  const auto scale = ConstantNumbers(call.arg(1));
  if (!scale || scale->empty()) return call.NoCounterpart("a scale that is not a constant");
  constexpr int kSumBits = 30;
  constexpr int kBits = 8;
  const int64_t axis = call.Int("axis");
  Value centered = relay.Subtract(relay.Cast(call.arg(0), kInt32), call.arg(2));
  const auto unit = static_cast<double>(std::round(1.0F / static_cast<float>(scale->front())));
  Value x0 = SaturateTo(relay, relay.Float(unit), kInt32);
  Value x = relay.Subtract(centered, relay.Max(centered, axis));
  Value xp = relay.Subtract(relay.Add(x, relay.RightShift(x, relay.Int(1))), relay.RightShift(x, relay.Int(4)));
  Value minus_x0 = relay.Unary("negative", x0);
  Value q = relay.Clip(relay.Divide(xp, minus_x0), 0, 20);
  Value r = relay.Subtract(xp, relay.Multiply(q, relay.Unary("negative", x0)));
  Value xb = relay.Add(relay.RightShift(r, relay.Int(1)), x0);
  Value exps = relay.LeftShift(xb, relay.Subtract(relay.Max(q, axis), q));
  Value sums = relay.Sum(exps, {axis}, true);
  Value shares = relay.Multiply(relay.Divide(relay.Int(int64_t{1} << kSumBits), sums), exps);
  Value output = relay.RightShift(shares, relay.Int(kSumBits - (kBits - 1)));
  const QuantizeParams from{relay.Float(1.0 / (1 << (kBits - 1))), relay.Int(0)};
  return Requantize(relay, output, from, {call.arg(3), call.arg(4)}, {.out_dtype = DataType::Int(kBits), .axis = 0});
}

const Expr* BuildQuantizedAvgPool(OpCall& call) {
  RelayBuilder relay(call);
  Value data = RequantizeOrCast(relay, call.arg(0), {call.arg(1), call.arg(2)}, {call.arg(3), call.arg(4)});
  Value pooled = call.Relay("nn.avg_pool2d", {data},
                            {{"pool_size", call.attr("pool_size")},
                             {"strides", call.attr("strides")},
                             {"dilation", call.attr("dilation")},
                             {"padding", call.attr("padding")},
                             {"layout", call.attr("layout")},
                             {"out_layout", call.attr("out_layout")},
                             {"ceil_mode", call.attr("ceil_mode")},
                             {"count_include_pad", call.attr("count_include_pad")}});
  return SaturateTo(relay, pooled, DTypeOf(call.arg(0)));
}

// ---- Operators of several tensors

struct BinaryOperands {
  explicit BinaryOperands(OpCall& call)
      : lhs(call.arg(0)),
        rhs(call.arg(1)),
        of_lhs{call.arg(2), call.arg(3)},
        of_rhs{call.arg(4), call.arg(5)},
        of_output{call.arg(6), call.arg(7)},
        lhs_axis(call.Int("lhs_axis")),
        rhs_axis(call.Int("rhs_axis")) {}

  Value lhs, rhs;
  QuantizeParams of_lhs, of_rhs, of_output;
  int64_t lhs_axis, rhs_axis;
};

// Both operands with the parameters of the output; its zero point is once too often in a sum, and missing in a
// difference.
const Expr* BuildQuantizedSum(OpCall& call, bool is_sum) {
  RelayBuilder relay(call);
  const BinaryOperands in(call);
  Value lhs = RequantizeOrCast(relay, in.lhs, in.of_lhs, in.of_output, in.lhs_axis);
  Value rhs = RequantizeOrCast(relay, in.rhs, in.of_rhs, in.of_output, in.rhs_axis);
  Value output = is_sum ? relay.Add(lhs, rhs) : relay.Subtract(lhs, rhs);
  if (!AreEqualScalars(in.of_output.zero_point, relay.Int(0))) {
    output = is_sum ? relay.Subtract(output, in.of_output.zero_point) : relay.Add(output, in.of_output.zero_point);
  }
  return SaturateTo(relay, output, DTypeOf(in.lhs));
}
const Expr* BuildQuantizedAdd(OpCall& call) { return BuildQuantizedSum(call, true); }
const Expr* BuildQuantizedSubtract(OpCall& call) { return BuildQuantizedSum(call, false); }

// The data in int32 without the zero point.
Value CenteredOperand(RelayBuilder& relay, Value data, Value zero_point, int64_t axis, bool per_tensor) {
  Value centered = relay.Cast(data, kInt32);
  if (AreEqualScalars(zero_point, relay.Int(0))) return centered;
  if (per_tensor) return relay.Subtract(centered, zero_point);
  const int rank = RankOf(relay.call().arg(0));
  const int64_t at = axis < 0 ? std::max<int64_t>(rank + axis, 0) : axis;
  Value expanded = relay.AlongAxis(relay.Reshape(zero_point, {-1}), at, rank);
  return relay.Subtract(centered, relay.Cast(expanded, kInt32));
}

// The product of the centered operands has the product of their scales.
const Expr* BuildQuantizedMul(OpCall& call) {
  RelayBuilder relay(call);
  const BinaryOperands in(call);
  const auto lhs_scale = ConstantNumbers(in.of_lhs.scale);
  const auto rhs_scale = ConstantNumbers(in.of_rhs.scale);
  if (!lhs_scale || !rhs_scale) return call.NoCounterpart("a product with a scale that is not a constant");
  const bool per_tensor = IsConstantScalar(in.of_lhs.scale) && IsConstantScalar(in.of_rhs.scale);
  if (!per_tensor && (in.lhs_axis != in.rhs_axis || lhs_scale->size() != rhs_scale->size()))
    return call.NoCounterpart("a product of tensors that are quantized along different axes");
  Value lhs = CenteredOperand(relay, in.lhs, in.of_lhs.zero_point, in.lhs_axis, per_tensor);
  Value rhs = CenteredOperand(relay, in.rhs, in.of_rhs.zero_point, in.rhs_axis, per_tensor);
  Value product = relay.Multiply(lhs, rhs);
  RequantizeOptions options{.out_dtype = DTypeOf(in.lhs)};
  if (per_tensor) {
    const float scale = static_cast<float>(lhs_scale->front()) * static_cast<float>(rhs_scale->front());
    return Requantize(relay, product, {relay.Float(scale), relay.Int(0)}, in.of_output, options);
  }
  std::vector<double> scales;
  for (size_t i = 0; i < lhs_scale->size(); ++i) scales.push_back((*lhs_scale)[i] * (*rhs_scale)[i]);
  options.axis = in.lhs_axis;
  return Requantize(relay, product, {relay.Vector(scales, kFloat32), relay.Int(0)}, in.of_output, options);
}

const Expr* BuildQuantizedConcatenate(OpCall& call) {
  RelayBuilder relay(call);
  const std::vector<Value> data = call.Fields(call.arg(0));
  const std::vector<Value> scales = call.Fields(call.arg(1));
  const std::vector<Value> zero_points = call.Fields(call.arg(2));
  if (data.size() != scales.size() || data.size() != zero_points.size())
    return call.Error("bad-argument", "the tensors, scales and zero points are of different number");
  const QuantizeParams to{call.arg(3), call.arg(4)};
  std::vector<Value> parts;
  for (size_t i = 0; i < data.size(); ++i) {
    const bool same = AreEqualScalars(scales[i], to.scale) && AreEqualScalars(zero_points[i], to.zero_point);
    parts.push_back(
        same ? data[i] : Requantize(relay, data[i], {scales[i], zero_points[i]}, to, {.out_dtype = DTypeOf(data[i])}));
  }
  return call.Relay("concatenate", {call.MakeTuple(parts)}, {{"axis", call.Int("axis")}});
}

// ---- Fixed-point factors

const Expr* BuildFixedPointMultiply(OpCall& call) {
  RelayBuilder relay(call);
  return FixedPointMultiply(relay, call.arg(0), call.Int("multiplier"), call.Int("shift"));
}

// A tensor of factors with its axes at those of the data.
Value AtAxes(RelayBuilder& relay, Value factors) {
  OpCall& call = relay.call();
  const int rank = RankOf(call.arg(0));
  const std::vector<int64_t> axes = call.Ints("axes");
  if (axes.size() == 1) return relay.AlongAxis(factors, axes[0] < 0 ? axes[0] + rank : axes[0], rank);
  const auto dims = StaticDimsOf(factors);
  if (!dims || rank == kUnknownDim || dims->size() != axes.size())
    return call.Error("bad-argument", "the factors do not have the axes");
  std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = call.Axis(axes[i], rank);
    if (!axis) return nullptr;
    shape[static_cast<size_t>(*axis)] = (*dims)[i];
  }
  return call.Relay("reshape", {factors}, {{"newshape", call.ListOf(shape)}});
}

const Expr* BuildFixedPointMultiplyPerAxis(OpCall& call) {
  RelayBuilder relay(call);
  constexpr int64_t kFractionBits = 31;
  const auto factors = [&](size_t i) { return relay.Cast(AtAxes(relay, call.arg(i)), kInt64); };
  Value product = relay.Cast(call.arg(0), kInt64);
  if (call.Bool("is_lshift_required")) product = relay.LeftShift(product, factors(2));
  product = relay.Multiply(product, factors(1));
  Value total = relay.Add(factors(3), relay.Int(kFractionBits, kInt64));
  Value half = relay.LeftShift(relay.Int(1, kInt64), relay.Subtract(total, relay.Int(1, kInt64)));
  return relay.Cast(relay.RightShift(relay.Add(product, half), total), kInt32);
}

#define QNN_UNARY(name)                                                                                                \
  { "qnn." name, "data, scale, zero_point, output_scale, output_zero_point", "", BuildQuantizedUnary }
#define QNN_BINARY(name, build)                                                                                        \
  {                                                                                                                    \
    "qnn." name, "lhs, rhs, lhs_scale, lhs_zero_point, rhs_scale, rhs_zero_point, output_scale, output_zero_point",    \
        "lhs_axis=-1, rhs_axis=-1", build                                                                              \
  }

constexpr OperatorRow kQnn[] = {
    {"fixed_point_multiply", "data", "multiplier, shift", BuildFixedPointMultiply},
    {"fixed_point_multiply_per_axis", "data, fp_multiplier, left_shift, right_shift",
     "is_lshift_required=False, is_rshift_required=False, axes", BuildFixedPointMultiplyPerAxis},
    QNN_UNARY("abs"),
    QNN_BINARY("add", BuildQuantizedAdd),
    {"qnn.avg_pool2d", "data, input_scale, input_zero_point, output_scale, output_zero_point",
     "pool_size, strides=[1, 1], dilation=[1, 1], padding=[0, 0], layout=\"NCHW\", out_layout=\"\", ceil_mode=False, "
     "count_include_pad=False",
     BuildQuantizedAvgPool},
    {"qnn.concatenate", "data, input_scales, input_zero_points, output_scale, output_zero_point", "axis=0",
     BuildQuantizedConcatenate},
    {"qnn.dequantize", "data, input_scale, input_zero_point", "out_dtype=\"float32\", axis=-1", BuildDequantize},
    QNN_UNARY("erf"),
    QNN_UNARY("exp"),
    QNN_UNARY("hardswish"),
    {"qnn.leaky_relu", "data, input_scale, input_zero_point, output_scale, output_zero_point", "alpha=0.25",
     BuildQuantizedLeakyRelu},
    QNN_UNARY("log"),
    QNN_BINARY("mul", BuildQuantizedMul),
    {"qnn.quantize", "data, output_scale, output_zero_point", "out_dtype=\"int8\", axis=-1", BuildQuantize},
    {"qnn.requantize", "data, input_scale, input_zero_point, output_scale, output_zero_point",
     "axis=-1, rounding=\"None\", compute_dtype=\"None\", out_dtype=\"int8\"", BuildRequantize},
    QNN_UNARY("rsqrt"),
    QNN_UNARY("sigmoid"),
    {"qnn.simulated_dequantize", "data, in_dtype, input_scale, input_zero_point", "out_dtype=\"\", axis=-1",
     BuildSimulatedDequantize},
    {"qnn.simulated_quantize", "data, out_dtype, output_scale, output_zero_point", "axis=-1", BuildSimulatedQuantize},
    {"qnn.softmax", "data, scale, zero_point, output_scale, output_zero_point", "axis=-1", BuildQuantizedSoftmax},
    QNN_UNARY("sqrt"),
    QNN_BINARY("subtract", BuildQuantizedSubtract),
    QNN_UNARY("tanh"),
};

#undef QNN_BINARY
#undef QNN_UNARY

}  // namespace

std::span<const OperatorRow> QnnOperators() { return kQnn; }

}  // namespace iropt::relay
