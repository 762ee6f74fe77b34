#include "iropt/infer/approximate.h"

#include <memory>
#include <span>

#include "iropt/ir/ndarray.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/op/ops/unary.h"

namespace iropt {

namespace {

constexpr DataType kReal = DataType::Float(32);

bool IsSingle(const Expr* x) {
  const auto* tensor = As<TensorType>(x->type);
  return tensor && tensor->dtype == kReal;
}

// Arithmetic on variables and numbers. Every operation but the last one of a formula is bound.
class Formula {
 public:
  explicit Formula(BlockBuilder& builder) : builder_(builder) {}

  const Expr* Call(OpId op, std::initializer_list<const Expr*> args, const Attr* attrs = nullptr) {
    return builder_.MakeCall(GetOp(op), args, attrs);
  }
  const Expr* Bind(OpId op, std::initializer_list<const Expr*> args, const Attr* attrs = nullptr) {
    return builder_.Emit(Call(op, args, attrs));
  }
  const Expr* Number(double value) {
    const std::shared_ptr<NDArray> array = NDArray::Make(kReal, {});
    array->MutableAs<float>()[0] = static_cast<float>(value);
    const auto* constant =
        builder_.workspace().New<Constant>(array.get(), TensorType::Get(std::span<const PrimExpr* const>(), kReal));
    builder_.workspace().arena().Retain(array);
    return constant;
  }
  const Expr* Clamp(const Expr* x, double least, double most) {
    return Bind(op::kMaximum, {Bind(op::kMinimum, {x, Number(most)}), Number(least)});
  }
  // By Horner's rule: the coefficients of the highest powers first.
  const Expr* Polynomial(const Expr* x, std::span<const double> coefficients) {
    const Expr* result = Number(coefficients[0]);
    for (const double coefficient : coefficients.subspan(1))
      result = Bind(op::kAdd, {Bind(op::kMultiply, {result, x}), Number(coefficient)});
    return result;
  }
  // x * numerator(x^2) / denominator(x^2)
  const Expr* OddQuotient(const Expr* x, std::span<const double> numerator, std::span<const double> denominator) {
    const Expr* square = Bind(op::kMultiply, {x, x});
    const Expr* product = Bind(op::kMultiply, {x, Polynomial(square, numerator)});
    return Call(op::kDivide, {product, Polynomial(square, denominator)});
  }

 private:
  BlockBuilder& builder_;
};

}  // namespace

// exp(x) = 2^n * exp(f), with n the nearest integer to x / ln(2), and a polynomial for the rest.
const Expr* ApproximateExp(const Expr* x, BlockBuilder& builder) {
  Formula make(builder);
  x = builder.NormalizeArgument(x);
  if (!IsSingle(x)) return make.Call(op::kExp, {x});
  constexpr double kPolynomial[] = {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                                    4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1};
  const Expr* clamped = make.Clamp(x, -88.3762626647949, 88.3762626647950);
  const Expr* log = make.Bind(op::kMultiply, {clamped, make.Number(1.44269504088896341)});
  const Expr* n = make.Bind(op::kFloor, {make.Bind(op::kAdd, {log, make.Number(0.5)})});
  const Expr* whole = make.Bind(op::kMultiply, {n, make.Number(0.6931471805599453)});
  const Expr* f = make.Bind(op::kSubtract, {clamped, whole});
  const Expr* square = make.Bind(op::kMultiply, {f, f});
  const Expr* tail = make.Bind(op::kMultiply, {make.Polynomial(f, kPolynomial), square});
  const Expr* rest = make.Bind(op::kAdd, {make.Bind(op::kAdd, {tail, f}), make.Number(1)});
  const Expr* power = make.Bind(op::kPower, {make.Number(2), n});
  return make.Call(op::kMaximum, {make.Bind(op::kMultiply, {power, rest}), x});
}

const Expr* ApproximateErf(const Expr* x, BlockBuilder& builder) {
  Formula make(builder);
  x = builder.NormalizeArgument(x);
  if (!IsSingle(x)) return make.Call(op::kErf, {x});
  constexpr double kNumerator[] = {-2.72614225801306e-10, 2.77068142495902e-08,  -2.10102402082508e-06,
                                   -5.69250639462346e-05, -7.34990630326855e-04, -2.95459980854025e-03,
                                   -1.60960333262415e-02};
  constexpr double kDenominator[] = {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                                     -7.37332916720468e-03, -1.42647390514189e-02};
  return make.OddQuotient(make.Clamp(x, -4, 4), kNumerator, kDenominator);
}

const Expr* ApproximateTanh(const Expr* x, BlockBuilder& builder) {
  Formula make(builder);
  x = builder.NormalizeArgument(x);
  if (!IsSingle(x)) return make.Call(op::kTanh, {x});
  constexpr double kNumerator[] = {-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11,
                                   5.12229709037114e-08,  1.48572235717979e-05, 6.37261928875436e-04,
                                   4.89352455891786e-03};
  constexpr double kDenominator[] = {1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03,
                                     4.89352518554385e-03};
  return make.OddQuotient(make.Clamp(x, -9, 9), kNumerator, kDenominator);
}

const Expr* ApproximateSoftmax(const Expr* x, int64_t axis, BlockBuilder& builder) {
  Formula make(builder);
  x = builder.NormalizeArgument(x);
  const int64_t axes[] = {axis};
  const auto reduce = [&](OpId op, const Expr* value) {
    return make.Bind(op, {value}, MakeOpAttrs(op, StatisticalAttrs::Values{.axis = std::span(axes), .keepdims = true}));
  };
  if (!IsSingle(x)) {
    return make.Call(op::kNnSoftmax, {x}, MakeOpAttrs(op::kNnSoftmax, SoftmaxAttrs::Values{.axis = axis}));
  }
  const Expr* shifted = make.Bind(op::kSubtract, {x, reduce(op::kMax, x)});
  const Expr* powers = builder.Emit(ApproximateExp(shifted, builder));
  return make.Call(op::kDivide, {powers, reduce(op::kSum, powers)});
}

}  // namespace iropt
