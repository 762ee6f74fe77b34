#include "binomials.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/runtime/value.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// A product of a number and tensors.
struct Term {
  double coefficient = 1;
  std::vector<const Expr*> factors;

  bool is_square() const { return factors[0] == factors[1]; }
  bool Has(const Expr* x) const { return factors[0] == x || factors[1] == x; }
};

constexpr size_t kMostFactors = 2;

// Multiplies the term by an expression. Returns false if there are too many factors.
bool Collect(const Expr* expr, const Definitions& definitions, Term& term) {
  const Expr* value = DefinitionOf(expr, definitions);
  if (const auto* constant = As<Constant>(value)) {
    const std::optional<Scalar> number = constant->data->shape().empty() ? ScalarOf(*constant->data) : std::nullopt;
    if (number) term.coefficient *= number->ToDouble();
    return number.has_value();
  }
  if (const Call* product = CallOf(value, op::kMultiply)) {
    return Collect(product->args[0], definitions, term) && Collect(product->args[1], definitions, term);
  }
  term.factors.push_back(expr);
  return term.factors.size() <= kMostFactors;
}

// a x x + b x y + c y y
struct QuadraticForm {
  const Expr* x = nullptr;
  const Expr* y = nullptr;
  double a = 0;
  double b = 0;
  double c = 0;
};

std::optional<QuadraticForm> FormOf(const std::array<const Expr*, 3>& summands, const Definitions& definitions) {
  QuadraticForm form;
  std::optional<Term> mixed;
  for (const Expr* summand : summands) {
    Term term;
    if (!Collect(summand, definitions, term) || term.factors.size() != kMostFactors) return std::nullopt;
    if (!term.is_square()) {
      if (mixed) return std::nullopt;
      mixed = std::move(term);
    } else if (form.x == nullptr) {
      form.x = term.factors[0];
      form.a = term.coefficient;
    } else {
      form.y = term.factors[0];
      form.c = term.coefficient;
    }
  }
  if (!mixed || form.y == nullptr || form.x == form.y || !mixed->Has(form.x) || !mixed->Has(form.y))
    return std::nullopt;
  form.b = mixed->coefficient;
  // A leading 1 need not be multiplied.
  if (form.c == 1 && form.a != 1) {
    std::swap(form.x, form.y);
    std::swap(form.a, form.c);
  }
  return form;
}

// The numbers r and s, the greater one first for a positive a. They are found without a difference of numbers that are
// nearly equal.
std::optional<std::pair<double, double>> FactorsOf(const QuadraticForm& form) {
  const double discriminant = form.b * form.b - 4 * form.a * form.c;
  if (!(discriminant >= 0) || form.a == 0 || form.c == 0) return std::nullopt;
  const double root = std::sqrt(discriminant);
  const double far = (form.b + std::copysign(root, form.b)) / 2;
  if (far == 0) return std::nullopt;
  const double r = far / form.a;
  const double s = root == 0 ? r : form.c / far;
  return form.b > 0 ? std::pair(r, s) : std::pair(s, r);
}

// Returns whether the numbers are exact in an integer dtype, and so is the factored form.
bool IsExact(const QuadraticForm& form, double r, double s, DataType dtype) {
  const double most = std::ldexp(1.0, std::min<int>(dtype.bits, 32) - 1);
  const auto fits = [&](double value) {
    return value == std::floor(value) && value < most && value >= (dtype.is_uint() ? 0 : -most);
  };
  return fits(form.a) && fits(r) && fits(s) && form.a * (r + s) == form.b && form.a * r * s == form.c;
}

bool HasType(const Expr* x, const Type* type) { return x->type && TypeEqual(x->type, type); }

const Expr* Factored(const QuadraticForm& form, const TensorType& type, OpBuilder& calls) {
  const auto factors = FactorsOf(form);
  if (!factors || !HasType(form.x, &type) || !HasType(form.y, &type)) return nullptr;
  const auto [r, s] = *factors;
  if (!type.dtype.is_floating() && !IsExact(form, r, s, type.dtype)) return nullptr;
  const auto scaled = [&](const Expr* x, double factor) -> const Expr* {
    return factor == 1 ? x : op::Multiply(calls, x, calls.MakeScalar(factor, type.dtype));
  };
  const auto sum = [&](double factor) { return op::Add(calls, form.x, scaled(form.y, factor)); };
  const Expr* first = sum(r);
  const Expr* product = op::Multiply(calls, first, r == s ? first : sum(s));
  return form.a == 1 ? product : op::Multiply(calls, calls.MakeScalar(form.a, type.dtype), product);
}

}  // namespace

void AddBinomialRules(RuleSet& rules, bool with_floats) {
  const Pattern p = Wildcard();
  const Pattern q = Wildcard();
  const Pattern r = Wildcard();
  const Pattern inner = IsCall(GetOp(op::kAdd), {p, q}).UsedOnce();
  const Pattern outer = IsCall(GetOp(op::kAdd), {inner, r}).Commutative();
  rules.Add({"quadratic form of two tensors", outer, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const TensorType* type = TensorTypeOf(match[outer]);
               if (!type || !type->has_shape() || type->dtype.is_void() || type->dtype.is_bool()) return nullptr;
               if (type->dtype.is_floating() && !with_floats) return nullptr;
               const auto form = FormOf({match[p], match[q], match[r]}, match.definitions());
               OpBuilder calls(builder);
               return form ? Factored(*form, *type, calls) : nullptr;
             }});
}

}  // namespace iropt
