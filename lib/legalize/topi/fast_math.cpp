// Tensor expressions that approximate functions of float32 by polynomials.
#include "iropt/arith/fast_math.h"

#include <array>

#include "iropt/legalize/topi.h"
#include "iropt/op/intrinsic_ids.h"

namespace iropt::topi {

namespace {

// The intrinsic itself, in float32 for bfloat16.
Value Intrinsic(OpId intrinsic, Value x) {
  const DataType dtype = x.dtype();
  if (dtype != DataType::BFloat(16)) return te::Call(intrinsic, {x});
  return te::Cast(dtype, te::Call(intrinsic, {te::Cast(DataType::Float(32), x)}));
}

// The value of the polynomial by Horner's rule: the coefficients of the highest powers first, the variable on the left.
template <size_t N>
Value Polynomial(Value x, DataType dtype, const std::array<double, N>& coefficients) {
  te::Builder& te = *x.te();
  Value result = te.Const(coefficients[0], dtype);
  for (size_t i = 1; i < N; ++i) result = x * result + te.Const(coefficients[i], dtype);
  return result;
}

// 2 to the power of an integer, from the bits of its exponent.
Value PowerOfTwo(Value n) {
  constexpr int kMantissaBits = 23;
  const Value exponent = te::Cast(DataType::Int(32), n + n.te()->Const(127, n.dtype()));
  return te::Call(op::kTirReinterpret, DataType::Float(32),
                  {te::Bitwise(arith::BitOp::kShiftLeft, exponent, kMantissaBits)});
}

// exp(x) = 2^n * exp(f), with n the nearest integer to x / ln(2), and a polynomial for the rest.
Value FastExp(Value element) {
  const auto constant = [&](float value) { return element.te()->Const(static_cast<double>(value), element.dtype()); };
  constexpr std::array kCoefficients = {1.3981999507E-3F, 8.3334519073E-3F, 4.1665795894E-2F, 1.6666665459E-1F,
                                        5.0000001201E-1F};
  const Value x = te::Max(te::Min(element, constant(88.3762626647950F)), constant(-88.3762626647949F));
  const Value n = Floor(x * constant(1.44269504088896341F) + constant(0.5F));
  const Value f = x - n * constant(0.6931471805599453F);
  Value y = constant(1.9875691500E-4F);
  for (const float coefficient : kCoefficients) y = y * f + constant(coefficient);
  y = y * f * f + f + constant(1.0F);
  return te::Max(PowerOfTwo(n) * y, element);
}

Value FastErf(Value x) { return {arith::FastErf(x.expr(), x.te()->make()), *x.te()}; }

// A quotient of polynomials, for numbers from -9 to 9.
Value FastTanh(Value x) {
  const DataType dtype = x.dtype();
  constexpr std::array<double, 7> kNumerator = {-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11,
                                                5.12229709037114e-08,  1.48572235717979e-05, 6.37261928875436e-04,
                                                4.89352455891786e-03};
  constexpr std::array<double, 4> kDenominator = {1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03,
                                                  4.89352518554385e-03};
  const Value square = x * x;
  return te::Div(x * Polynomial(square, dtype, kNumerator), Polynomial(square, dtype, kDenominator));
}

}  // namespace

Tensor FastExp(const Tensor& x) {
  const bool is_float = x.dtype() == DataType::Float(32);
  const auto value = [&](Value v) { return is_float ? FastExp(v) : Intrinsic(op::kTirExp, v); };
  return Map(x, value, "T_fast_exp", {});
}

Tensor FastErf(const Tensor& x) {
  if (x.dtype() == DataType::Float(32) || x.dtype() == DataType::Float(16))
    return Map(x, [](Value v) { return FastErf(v); }, "T_fast_erf", {});
  return Map(x, [](Value v) { return Intrinsic(op::kTirErf, v); }, "T_erf", {});
}

Tensor FastTanh(const Tensor& x) {
  if (x.dtype() != DataType::Float(32))
    return Map(x, [](Value v) { return Intrinsic(op::kTirTanh, v); }, "T_fast_tanh", {});
  // Beyond, the result is 1 or -1.
  const auto limit = [&](double value) { return x.te().Const(value, x.dtype()); };
  const Tensor low = Map(x, [&](Value v) { return te::Min(limit(9), v); }, "T_minimum", {});
  const Tensor clamped = Map(low, [&](Value v) { return te::Max(limit(-9), v); }, "T_maximum", {});
  return Map(clamped, [](Value v) { return FastTanh(v); }, "T_fast_tanh", {});
}

}  // namespace iropt::topi
