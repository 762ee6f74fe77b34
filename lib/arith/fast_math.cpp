#include "iropt/arith/fast_math.h"

#include <array>
#include <span>

namespace iropt::arith {

namespace {

// By Horner's rule: the coefficients of the highest powers first, the variable on the left.
const PrimExpr* EvalPolynomial(const PrimExpr* x, std::span<const double> coefficients, const PrimBuilder& make) {
  const DataType dtype = x->dtype.with_lanes(1);
  const PrimExpr* result = make.Float(coefficients[0], dtype);
  for (const double coefficient : coefficients.subspan(1)) {
    result = make.Add(make.Mul(x, result), make.Float(coefficient, dtype));
  }
  return result;
}

}  // namespace

const PrimExpr* FastErf(const PrimExpr* x, const PrimBuilder& make) {
  constexpr std::array<double, 7> kNumerator = {-2.72614225801306e-10F, 2.77068142495902e-08F,  -2.10102402082508e-06F,
                                                -5.69250639462346e-05F, -7.34990630326855e-04F, -2.95459980854025e-03F,
                                                -1.60960333262415e-02F};
  constexpr std::array<double, 5> kDenominator = {-1.45660718464996e-05F, -2.13374055278905e-04F,
                                                  -1.68282697438203e-03F, -7.37332916720468e-03F,
                                                  -1.42647390514189e-02F};
  const DataType dtype = x->dtype.with_lanes(1);
  const PrimExpr* clamped = make.Max(make.Min(x, make.Float(4, dtype)), make.Float(-4, dtype));
  const PrimExpr* square = make.Mul(clamped, clamped);
  const PrimExpr* numerator = make.Mul(clamped, EvalPolynomial(square, kNumerator, make));
  return make.TruncDiv(numerator, EvalPolynomial(square, kDenominator, make));
}

}  // namespace iropt::arith
