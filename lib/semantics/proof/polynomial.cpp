#include "semantics/proof/polynomial.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/unary.h"

namespace iropt::proof {

namespace {

constexpr size_t kMostMonomials = 64;
constexpr size_t kMostFactors = 32;

bool TermBefore(const Term* a, const Term* b) {
  return a->skeleton != b->skeleton ? a->skeleton < b->skeleton : a->id < b->id;
}

int64_t Wrap(int64_t value, DataType dtype) {
  if (dtype.bits >= 64) return value;
  const uint64_t mask = (uint64_t{1} << dtype.bits) - 1;
  uint64_t bits = static_cast<uint64_t>(value) & mask;
  if (dtype.is_int() && (bits >> (dtype.bits - 1)) != 0) bits |= ~mask;
  return static_cast<int64_t>(bits);
}

// Coefficients that differ by rounding are the same.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::round(std::ldexp(mantissa, 20)), exponent - 20);
}

}  // namespace

bool Polynomial::Order::operator()(const Factors& a, const Factors& b) const {
  return std::ranges::lexicographical_compare(a, b, TermBefore);
}

Polynomial::Coefficient Polynomial::Times(const Coefficient& a, const Coefficient& b) const {
  const auto product = static_cast<uint64_t>(a.integer) * static_cast<uint64_t>(b.integer);
  return {Wrap(static_cast<int64_t>(product), dtype_), a.real * b.real};
}

void Polynomial::Add(const Factors& factors, const Coefficient& coefficient, bool drops_zeros) {
  Coefficient& sum = monomials_[factors];
  const auto integer = static_cast<uint64_t>(sum.integer) + static_cast<uint64_t>(coefficient.integer);
  sum = {Wrap(static_cast<int64_t>(integer), dtype_), sum.real + coefficient.real};
  const bool is_zero = is_integer() ? sum.integer == 0 : sum.real == 0;
  if (is_zero && (is_integer() || drops_zeros || factors.empty())) monomials_.erase(factors);
}

Polynomial Polynomial::OfTerm(const Term* term, const TermBuilder& terms) {
  Polynomial result(term->dtype);
  const auto add_product = [&](const Term* product) {
    Factors factors = product->kind == TermKind::kApply && product->op == op::kMultiply && product->dtype == term->dtype
                          ? product->args
                          : Factors{product};
    Coefficient coefficient{1, 1};
    std::erase_if(factors, [&](const Term* factor) {
      if (factor->kind != TermKind::kNumber) return false;
      const Coefficient number{factor->number, result.is_integer() ? 0 : terms.ValueOf(factor).value_or(0)};
      coefficient = result.Times(coefficient, number);
      return true;
    });
    std::ranges::sort(factors, TermBefore);
    result.Add(factors, coefficient, false);
  };
  if (term->kind == TermKind::kApply && term->op == op::kAdd) {
    for (const Term* arg : term->args) add_product(arg);
  } else {
    add_product(term);
  }
  return result;
}

std::optional<Polynomial> Polynomial::OfCall(OpId op, const std::vector<const Term*>& args, DataType dtype,
                                             TermBuilder& terms) {
  const bool drops_zeros = terms.laws().finite;
  std::vector<Polynomial> parts;
  for (const Term* arg : args) {
    if (arg->dtype != dtype) return std::nullopt;
    parts.push_back(OfTerm(arg, terms));
  }
  Polynomial result(dtype);
  const auto add = [&](const Polynomial& part, int sign) {
    for (const auto& [factors, coefficient] : part.monomials_)
      result.Add(factors, result.Times(coefficient, {sign, static_cast<double>(sign)}), drops_zeros);
  };
  if (op == op::kAdd) {
    for (const Polynomial& part : parts) add(part, 1);
  } else if (op == op::kSubtract && parts.size() == 2) {
    add(parts[0], 1);
    add(parts[1], -1);
  } else if (op == op::kNegative) {
    add(parts[0], -1);
  } else if (op == op::kMultiply && !parts.empty()) {
    result = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) {
      const Polynomial left = std::exchange(result, Polynomial(dtype));
      if (left.monomials_.size() * parts[i].monomials_.size() > kMostMonomials) return std::nullopt;
      for (const auto& [a, x] : left.monomials_) {
        for (const auto& [b, y] : parts[i].monomials_) {
          Factors both = a;
          both.insert(both.end(), b.begin(), b.end());
          if (both.size() > kMostFactors) return std::nullopt;
          std::ranges::sort(both, TermBefore);
          result.Add(both, result.Times(x, y), drops_zeros);
        }
      }
    }
  } else {
    return std::nullopt;
  }
  if (result.monomials_.size() > kMostMonomials) return std::nullopt;
  return result;
}

const Term* Polynomial::ToTerm(TermBuilder& terms) const {
  const auto number = [&](const Coefficient& value) {
    return is_integer() ? terms.Number(dtype_, value.integer) : terms.Number(dtype_, Rounded(value.real));
  };
  std::vector<const Term*> sum;
  for (const auto& [factors, coefficient] : monomials_) {
    const bool is_one = is_integer() ? coefficient.integer == 1 : Rounded(coefficient.real) == 1;
    std::vector<const Term*> product = factors;
    if (!is_one || product.empty()) product.insert(product.begin(), number(coefficient));
    sum.push_back(product.size() == 1
                      ? product[0]
                      : terms.Make({.kind = TermKind::kApply, .dtype = dtype_, .op = op::kMultiply, .args = product}));
  }
  if (sum.empty()) return number({});
  std::ranges::sort(sum, TermBefore);
  if (sum.size() == 1) return sum[0];
  return terms.Make({.kind = TermKind::kApply, .dtype = dtype_, .op = op::kAdd, .args = sum});
}

}  // namespace iropt::proof
