#include "semantics/proof/polynomial.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/unary.h"

namespace iropt::proof {

namespace {

constexpr size_t kMostMonomials = 64;
constexpr size_t kMostFactors = 32;

// Coefficients that differ by rounding are the same. A step of products adds no more than a product of float32 does.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::round(std::ldexp(mantissa, 22)), exponent - 22);
}

// The product of two constants; null if it could not be computed, or is infinite or 0 although neither is.
const Term* Times(const Term* a, const Term* b, TermBuilder& terms) {
  if (a == nullptr || b == nullptr) return nullptr;
  const auto x = terms.ValueOf(a);
  const auto y = terms.ValueOf(b);
  if (x == 1.0) return b;
  if (y == 1.0) return a;
  const Term* product = terms.FoldConstants(op::kMultiply, nullptr, {a, b}, a->dtype);
  if (!product || !x || !y || !a->dtype.is_floating()) return product;
  const double value = *terms.ValueOf(product);
  const bool keeps_range =
      std::isfinite(value) == (std::isfinite(*x) && std::isfinite(*y)) && (value == 0) == (*x * *y == 0);
  return keeps_range ? product : nullptr;
}

// Returns whether a factor is 0, so that the product is not 0 where another one is infinite.
bool HasZero(const std::vector<Polynomial>& parts) {
  return std::ranges::any_of(parts, [](const Polynomial& part) { return part.monomials().empty(); });
}

bool IsConstant(const Polynomial& part) {
  return std::ranges::all_of(part.monomials(), [](const auto& entry) { return entry.first.empty(); });
}

// A sum is multiplied out with constants only.
void KeepSums(const std::vector<const Term*>& args, std::vector<Polynomial>& parts, TermBuilder& terms) {
  if (std::ranges::count_if(parts, IsConstant) + 1 >= std::ssize(parts)) return;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].monomials().size() < 2) continue;
    parts[i] = Polynomial(args[i]->dtype);
    parts[i].Add({args[i]}, terms.Number(args[i]->dtype, 1.0), terms);
  }
}

}  // namespace

bool TermBefore(const Term* a, const Term* b) {
  return a->skeleton != b->skeleton ? a->skeleton < b->skeleton : a->id < b->id;
}

bool Polynomial::Order::operator()(const Factors& a, const Factors& b) const {
  return std::ranges::lexicographical_compare(a, b, TermBefore);
}

void Polynomial::Add(Factors factors, const Term* coefficient, TermBuilder& terms) {
  std::ranges::sort(factors, TermBefore);
  const auto found = monomials_.find(factors);
  const Term* sum = coefficient;
  if (found != monomials_.end() && sum != nullptr)
    sum = found->second ? terms.FoldConstants(op::kAdd, nullptr, {found->second, coefficient}, dtype_) : nullptr;
  // A term that cancels out may be infinite.
  const bool drops_zeros = dtype_.is_integer() || terms.laws().finite || factors.empty();
  if (sum != nullptr && drops_zeros && terms.ValueOf(sum) == 0.0) {
    if (found != monomials_.end()) monomials_.erase(found);
    return;
  }
  monomials_[std::move(factors)] = sum;
}

Polynomial Polynomial::OfTerm(const Term* term, TermBuilder& terms) {
  Polynomial result(term->dtype);
  const auto add_product = [&](const Term* product) {
    const bool is_product =
        product->kind == TermKind::kApply && product->op == op::kMultiply && product->dtype == term->dtype;
    Factors factors = is_product ? product->args : Factors{product};
    const Term* coefficient = terms.Number(term->dtype, 1.0);
    std::erase_if(factors, [&](const Term* factor) {
      if (!terms.IsConstant(factor)) return false;
      coefficient = Times(coefficient, factor, terms);
      return true;
    });
    result.Add(std::move(factors), coefficient, terms);
  };
  if (term->kind == TermKind::kApply && term->op == op::kAdd) {
    for (const Term* arg : term->args) add_product(arg);
  } else {
    add_product(term);
  }
  return result;
}

bool Polynomial::Multiply(const Polynomial& other, TermBuilder& terms) {
  const auto left = std::exchange(monomials_, {});
  if (left.size() * other.monomials_.size() > kMostMonomials) return false;
  for (const auto& [a, x] : left) {
    for (const auto& [b, y] : other.monomials_) {
      Factors both = a;
      both.insert(both.end(), b.begin(), b.end());
      if (both.size() > kMostFactors) return false;
      Add(std::move(both), Times(x, y, terms), terms);
    }
  }
  return true;
}

std::optional<Polynomial> Polynomial::OfCall(OpId op, const std::vector<const Term*>& args, DataType dtype,
                                             TermBuilder& terms) {
  std::vector<Polynomial> parts;
  for (const Term* arg : args) {
    if (arg->dtype != dtype) return std::nullopt;
    parts.push_back(OfTerm(arg, terms));
  }
  Polynomial result(dtype);
  const auto add = [&](Polynomial part, double sign) {
    Polynomial factor(dtype);
    factor.Add({}, terms.Number(dtype, sign), terms);
    if (sign != 1 && !part.Multiply(factor, terms)) return false;
    for (const auto& [factors, coefficient] : part.monomials_) result.Add(factors, coefficient, terms);
    return true;
  };
  bool is_short = !parts.empty();
  if (op == op::kAdd) {
    for (Polynomial& part : parts) is_short = is_short && add(std::move(part), 1);
  } else if (op == op::kSubtract && parts.size() == 2) {
    is_short = add(parts[0], 1) && add(parts[1], -1);
  } else if (op == op::kNegative) {
    is_short = is_short && add(parts[0], -1);
  } else if (op == op::kMultiply && !parts.empty()) {
    const bool may_be_infinite = dtype.is_floating() && !terms.laws().finite;
    if (may_be_infinite && HasZero(parts) && !std::ranges::all_of(parts, IsConstant)) return std::nullopt;
    if (may_be_infinite) KeepSums(args, parts, terms);
    result = parts[0];
    for (size_t i = 1; i < parts.size() && is_short; ++i) is_short = result.Multiply(parts[i], terms);
  } else {
    return std::nullopt;
  }
  const bool has_all =
      std::ranges::all_of(result.monomials_, [](const auto& entry) { return entry.second != nullptr; });
  if (!is_short || !has_all || result.monomials_.size() > kMostMonomials) return std::nullopt;
  return result;
}

const Term* Polynomial::ToTerm(TermBuilder& terms) const {
  std::vector<const Term*> sum;
  for (const auto& [factors, coefficient] : monomials_) {
    std::vector<const Term*> product = factors;
    const Term* number = coefficient;
    if (const auto value = terms.ValueOf(number); value && dtype_.is_floating())
      number = terms.Number(dtype_, Rounded(*value));
    number = terms.UpToRounding(number);
    bool is_one = terms.ValueOf(number) == 1.0;
    if (!is_one) {
      // Constants are kept inside of sums.
      for (const Term*& factor : product) {
        const Term* scaled = terms.ScaleSum(factor, number);
        if (scaled == nullptr) continue;
        factor = scaled;
        is_one = true;
        break;
      }
    }
    std::ranges::sort(product, TermBefore);
    if (!is_one || product.empty()) product.insert(product.begin(), number);
    sum.push_back(product.size() == 1
                      ? product[0]
                      : terms.Make({.kind = TermKind::kApply, .dtype = dtype_, .op = op::kMultiply, .args = product}));
  }
  if (sum.empty()) return terms.Number(dtype_, 0.0);
  std::ranges::sort(sum, TermBefore);
  if (sum.size() == 1) return sum[0];
  return terms.Make({.kind = TermKind::kApply, .dtype = dtype_, .op = op::kAdd, .args = sum});
}

}  // namespace iropt::proof
