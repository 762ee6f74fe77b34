// Legalization of operators on one tensor, element by element.
#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/ops/activation.h"

namespace iropt::legalize {

namespace {

const Expr* LegalizeUnary(LegalizeCall& call, std::string_view name, topi::UnaryFn f) {
  TeCall te(call, name);
  return te.Finish({topi::Map(te.Arg(0), f)});
}

te::Value IsNan(te::Value x) {
  if (x.dtype().is_integer()) return x.te()->Const(0, DataType::Bool());
  if (x.dtype().bits == 16) x = te::Cast(DataType::Float(32), x);
  return te::Call(op::kTirIsNan, DataType::Bool(), {x});
}

// Since TVM 0.24 halves are rounded to even.
te::Value RoundToEven(te::Value x) {
  if (x.dtype().is_integer() || x.te()->version() < TextVersion::kV0_24) return topi::Round(x);
  return te::Call(op::kTirNearbyint, {x});
}

te::Value IsInf(te::Value x) {
  if (x.dtype().is_integer()) return x.te()->Const(0, DataType::Bool());
  return topi::Abs(x) == x.te()->Infinity(x.dtype()) && !IsNan(x);
}

}  // namespace

// As the other operations on bits, in binary.cpp.
const Expr* LegalizeBitwiseNot(LegalizeCall& call) {
  if (call.TensorArg(0)->dtype.is_floating())
    return call.Error(
        fmt::format("the operand must have an integer dtype, not {}", call.TensorArg(0)->dtype.ToString()));
  return LegalizeUnary(call, "tir_bitwise_not", [](te::Value x) { return te::Call(op::kTirBitwiseNot, {x}); });
}

const Expr* LegalizeLogicalNot(LegalizeCall& call) {
  if (!call.TensorArg(0)->dtype.is_bool())
    return call.Error(fmt::format("the operand must have the dtype bool, not {}", call.TensorArg(0)->dtype.ToString()));
  return LegalizeUnary(call, "tir_logical_not", [](te::Value x) { return !x; });
}

#define IROPT_LEGALIZE_UNARY(Id, name, value)                                                                          \
  const Expr* Legalize##Id(LegalizeCall& call) {                                                                       \
    return LegalizeUnary(call, "tir_" name, [](te::Value x) { return value; });                                        \
  }
#define IROPT_LEGALIZE_INTRINSIC(Id, name) IROPT_LEGALIZE_UNARY(Id, name, te::Call(op::kTir##Id, {x}))

IROPT_LEGALIZE_UNARY(Abs, "abs", topi::Abs(x))
IROPT_LEGALIZE_INTRINSIC(Acos, "acos")
IROPT_LEGALIZE_INTRINSIC(Acosh, "acosh")
IROPT_LEGALIZE_INTRINSIC(Asin, "asin")
IROPT_LEGALIZE_INTRINSIC(Asinh, "asinh")
IROPT_LEGALIZE_INTRINSIC(Atan, "atan")
IROPT_LEGALIZE_INTRINSIC(Atanh, "atanh")
IROPT_LEGALIZE_UNARY(Ceil, "ceil", topi::Ceil(x))
IROPT_LEGALIZE_INTRINSIC(Cos, "cos")
IROPT_LEGALIZE_INTRINSIC(Cosh, "cosh")
IROPT_LEGALIZE_INTRINSIC(Exp, "exp")
IROPT_LEGALIZE_UNARY(Floor, "floor", topi::Floor(x))
IROPT_LEGALIZE_UNARY(IsFinite, "isfinite", !IsInf(x) && !IsNan(x))
IROPT_LEGALIZE_UNARY(IsInf, "isinf", IsInf(x))
IROPT_LEGALIZE_UNARY(IsNan, "isnan", IsNan(x))
IROPT_LEGALIZE_INTRINSIC(Log, "log")
IROPT_LEGALIZE_UNARY(Negative, "negative", x * -1)
IROPT_LEGALIZE_UNARY(Round, "round", RoundToEven(x))
IROPT_LEGALIZE_INTRINSIC(Rsqrt, "rsqrt")
IROPT_LEGALIZE_INTRINSIC(Sigmoid, "sigmoid")
IROPT_LEGALIZE_INTRINSIC(Sin, "sin")
IROPT_LEGALIZE_INTRINSIC(Sinh, "sinh")
IROPT_LEGALIZE_INTRINSIC(Sqrt, "sqrt")
IROPT_LEGALIZE_INTRINSIC(Tan, "tan")
IROPT_LEGALIZE_INTRINSIC(Tanh, "tanh")

IROPT_LEGALIZE_UNARY(Trunc, "trunc", x.dtype().is_integer() ? x : te::Call(op::kTirTrunc, {x}))

#undef IROPT_LEGALIZE_INTRINSIC
#undef IROPT_LEGALIZE_UNARY

const Expr* LegalizeSign(LegalizeCall& call) {
  TeCall te(call, "tir_sign");
  return te.Finish({topi::Map(te.Arg(0), topi::Sign, "T_sign", {})});
}

const Expr* LegalizeSquare(LegalizeCall& call) {
  TeCall te(call, "tir_square");
  const te::Tensor x = te.Arg(0);
  return te.Finish({topi::Multiply(x, x)});
}

namespace {

// A bound of clip in the dtype of the tensor: what it does not hold is its end.
te::Value ClipBound(te::Value bound, DataType dtype) {
  const DataType from = bound.dtype();
  if (!dtype.is_integer()) return te::Cast(dtype, bound);
  te::Builder& te = *bound.te();
  const te::Value most = te.MaxValue(dtype), least = te.MinValue(dtype);
  if (from.is_floating()) {
    // The most integers are rounded up as floats.
    const te::Value within = te::IfThenElse(bound <= te::Cast(from, least), least, te::Cast(dtype, bound));
    return te::IfThenElse(bound >= te::Cast(from, most), most, within);
  }
  const auto value_bits = [](DataType t) { return t.is_int() ? t.bits - 1 : t.bits; };
  if (value_bits(from) > value_bits(dtype)) bound = te::Min(bound, te::Cast(from, most));
  if (from.is_int() && (dtype.is_uint() || from.bits > dtype.bits)) bound = te::Max(bound, te::Cast(from, least));
  return te::Cast(dtype, bound);
}

}  // namespace

const Expr* LegalizeClip(LegalizeCall& call) {
  TeCall te(call, "tir_clip");
  const te::Tensor x = te.Arg(0);
  const te::Value low = ClipBound(std::get<te::Value>(te.Operand(call.arg(1))), x.dtype());
  const te::Value high = ClipBound(std::get<te::Value>(te.Operand(call.arg(2))), x.dtype());
  return te.Finish({topi::Map(x, [&](te::Value v) { return te::Max(te::Min(v, high), low); })});
}

const Expr* LegalizeErf(LegalizeCall& call) {
  TeCall te(call, "erf");
  const te::Tensor x = te.Arg(0);
  if (x.dtype() != DataType::Float(16)) return te.Finish({topi::Map(x, topi::Erf)});
  const te::Tensor erf = topi::Map(topi::Cast(x, DataType::Float(32)), topi::Erf);
  return te.Finish({topi::Cast(erf, x.dtype())});
}

// ---- Activations

const Expr* LegalizeNnRelu(LegalizeCall& call) {
  TeCall te(call, "relu");
  const te::Tensor x = te.Arg(0);
  return te.Finish({topi::Map(x, [&](te::Value v) { return te::Max(v, te.Const(0, x.dtype())); })});
}

const Expr* LegalizeNnLeakyrelu(LegalizeCall& call) {
  TeCall te(call, "leaky_relu");
  const te::Tensor x = te.Arg(0);
  const te::Value alpha = te.Const(LeakyReluAttrs(call.call()).alpha(), x.dtype());
  return te.Finish({topi::Map(x, [&](te::Value v) { return te::Select(te.Const(0, x.dtype()) < v, v, v * alpha); })});
}

const Expr* LegalizeNnGelu(LegalizeCall& call) {
  TeCall te(call, "gelu");
  const te::Tensor x = te.Arg(0);
  const DataType dtype = x.dtype();
  te::Tensor scaled = topi::Multiply(x, te.Const(std::sqrt(0.5), dtype));
  const bool widens = dtype == DataType::Float(16);
  if (widens) scaled = topi::Cast(scaled, DataType::Float(32));
  te::Tensor erf = topi::Map(scaled, topi::Erf);
  if (widens) erf = topi::Cast(erf, dtype);
  const te::Value half = te.Const(0.5, dtype);
  return te.Finish({topi::Multiply(x, topi::Add(half, topi::Multiply(erf, half)))});
}

const Expr* LegalizeNnGeluTanh(LegalizeCall& call) {
  TeCall te(call, "gelu_tanh");
  const te::Tensor x = te.Arg(0);
  const auto constant = [&](double value) { return te.Const(value, x.dtype()); };
  const te::Tensor halves = topi::Multiply(constant(0.5), x);
  const te::Tensor scaled = topi::Multiply(constant(std::sqrt(2.0 / 3.14159265358979323846)), x);
  const te::Tensor cubic = topi::Multiply(topi::Multiply(constant(0.044715), x), x);
  const te::Tensor inner = topi::Multiply(scaled, topi::Add(te.Int(1, DataType::Int(32)), cubic));
  return te.Finish({topi::Multiply(halves, topi::Add(constant(1), topi::Map(inner, topi::Tanh)))});
}

const Expr* LegalizeNnSelu(LegalizeCall& call) {
  TeCall te(call, "selu");
  const te::Tensor x = te.Arg(0);
  const auto constant = [&](double value) { return te.Const(value, x.dtype()); };
  const auto maximum = [](te::Value a, te::Value b) { return te::Max(a, b); };
  const auto minimum = [](te::Value a, te::Value b) { return te::Min(a, b); };
  const te::Tensor positive = topi::Broadcast(x, constant(0), "T_maximum", maximum);
  const te::Tensor grown = topi::Subtract(topi::Map(x, topi::Exp), constant(1));
  const te::Tensor scaled = topi::Multiply(constant(1.6732632423543772848170), grown);
  const te::Tensor negative = topi::Broadcast(constant(0), scaled, "T_minimum", minimum);
  return te.Finish({topi::Multiply(constant(1.0507009873554804934193), topi::Add(positive, negative))});
}

const Expr* LegalizeNnSilu(LegalizeCall& call) {
  TeCall te(call, "silu");
  const te::Tensor x = te.Arg(0);
  return te.Finish({topi::Multiply(x, topi::Map(x, topi::Sigmoid))});
}

}  // namespace iropt::legalize
