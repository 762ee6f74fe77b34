// Indices that are sums of products of sizes and variables: what the analyzer knows for numbers, for symbolic sizes.
#include <algorithm>
#include <utility>

#include "semantics/proof/index_space.h"

namespace iropt::proof {

namespace {

// A number and factors, in the order of their addresses.
struct Monomial {
  int64_t number = 1;
  Dims factors = {};
};
using Sum = std::vector<Monomial>;

constexpr size_t kMostSummands = 64;
constexpr int kMostRounds = 8;

Monomial Product(const Monomial& a, const Monomial& b) {
  Monomial product{a.number * b.number, a.factors};
  product.factors.insert(product.factors.end(), b.factors.begin(), b.factors.end());
  std::ranges::sort(product.factors);
  return product;
}

void Add(Monomial monomial, Sum& sum) {
  const auto found = std::ranges::find(sum, monomial.factors, &Monomial::factors);
  if (found == sum.end()) {
    sum.push_back(std::move(monomial));
  } else {
    found->number += monomial.number;
    if (found->number == 0) sum.erase(found);
  }
}

Sum SumOf(const PrimExpr* expr) {
  if (const int64_t* number = arith::AsInt(expr)) return *number == 0 ? Sum{} : Sum{{*number}};
  const auto* binary = As<tir::BinaryExpr>(expr);
  const bool is_sum = expr->kind == NodeKind::kAdd || expr->kind == NodeKind::kSub;
  if (binary == nullptr || (!is_sum && expr->kind != NodeKind::kMul)) return {{1, {expr}}};
  Sum a = SumOf(binary->a);
  const Sum b = SumOf(binary->b);
  if (a.size() * b.size() > kMostSummands) return {{1, {expr}}};
  if (is_sum) {
    for (Monomial monomial : b) {
      if (expr->kind == NodeKind::kSub) monomial.number = -monomial.number;
      Add(std::move(monomial), a);
    }
    return a;
  }
  Sum product;
  for (const Monomial& x : a) {
    for (const Monomial& y : b) Add(Product(x, y), product);
  }
  return product;
}

// The quotient if the divisor divides the monomial.
std::optional<Monomial> Quotient(const Monomial& monomial, const Monomial& divisor) {
  if (divisor.number == 0 || monomial.number % divisor.number != 0) return std::nullopt;
  Monomial quotient{monomial.number / divisor.number, monomial.factors};
  for (const PrimExpr* factor : divisor.factors) {
    const auto found = std::ranges::find(quotient.factors, factor);
    if (found == quotient.factors.end()) return std::nullopt;
    quotient.factors.erase(found);
  }
  return quotient;
}

const PrimExpr* ExprOf(const Sum& sum, const arith::PrimBuilder& make) {
  const PrimExpr* result = make.Int(0);
  for (const Monomial& monomial : sum) {
    const PrimExpr* product = nullptr;
    for (const PrimExpr* factor : monomial.factors) product = product ? make.Mul(product, factor) : factor;
    result = make.Add(result, product ? make.Mul(product, make.Int(monomial.number)) : make.Int(monomial.number));
  }
  return result;
}

// Sizes and variables of indices are not negative.
bool IsNonNegative(const Monomial& monomial, const IndexSpace& indices) {
  return monomial.number >= 0 && std::ranges::all_of(monomial.factors, [&](const PrimExpr* factor) {
           const auto* var = As<tir::Var>(factor);
           return var && (var->is_size_var() || indices.PlaceOf(var));
         });
}

}  // namespace

IndexSpace::NonEmpty::NonEmpty(IndexSpace& space, const Dims& sizes) : space_(space) {
  const arith::PrimBuilder& make = space.make_;
  const PrimExpr* all = nullptr;
  const auto add = [&](const PrimExpr* size) {
    const PrimExpr* is_some = make.Binary(NodeKind::kGT, size, space.Int(0));
    all = all ? make.Binary(NodeKind::kAnd, all, is_some) : is_some;
  };
  for (const PrimExpr* size : sizes) {
    if (arith::AsInt(size)) continue;
    add(size);
    // No factor of a product is 0.
    const Sum product = SumOf(size);
    for (size_t i = 0; product.size() == 1 && IsNonNegative(product[0], space) && i < product[0].factors.size(); ++i)
      add(product[0].factors[i]);
  }
  if (all == nullptr) return;
  constraint_.emplace(space.analyzer_, all);
  space_.simplified_ = {};
}

bool IndexSpace::AreSamePolynomials(const PrimExpr* a, const PrimExpr* b) {
  return !a->dtype.is_bool() && a->dtype == b->dtype && SumOf(make_.Sub(a, b)).empty();
}

std::pair<const PrimExpr*, const PrimExpr*> IndexSpace::Divide(const PrimExpr* index, const PrimExpr* size) {
  const Sum divisor = SumOf(size);
  if (divisor.size() == 1) {
    Sum quotient;
    Sum rest;
    for (const Monomial& monomial : SumOf(Simplify(index))) {
      const auto part = Quotient(monomial, divisor[0]);
      Add(part ? *part : monomial, part ? quotient : rest);
    }
    const PrimExpr* remainder = Simplify(ExprOf(rest, make_));
    if (IsWithin(remainder, size, nullptr)) return {Simplify(ExprOf(quotient, make_)), remainder};
  }
  return {Simplify(make_.FloorDiv(index, size)), Simplify(make_.FloorMod(index, size))};
}

const PrimExpr* IndexSpace::MostOf(const PrimExpr* index) {
  for (int round = 0; round < kMostRounds; ++round) {
    if (VarsOf(index).empty()) return index;
    const Sum sum = SumOf(index);
    SymVarMap most;
    for (const Monomial& monomial : sum) {
      const bool has_vars =
          std::ranges::any_of(monomial.factors, [&](const PrimExpr* f) { return !VarsOf(f).empty(); });
      if (has_vars && !IsNonNegative(monomial, *this)) return nullptr;
    }
    for (const PrimExpr* var : VarsOf(index)) most.Set(To<tir::Var>(var), make_.Sub(PlaceOf(var)->extent, Int(1)));
    index = SubstituteSymVars(ExprOf(sum, make_), most);
  }
  return nullptr;
}

bool IndexSpace::IsWithin(const PrimExpr* index, const PrimExpr* size, const PrimExpr* given) {
  const arith::IntBound bound = BoundOf(index);
  const int64_t* number = arith::AsInt(size);
  if (bound.min >= 0 && number && bound.max < *number) return true;
  const auto* binary = As<tir::BinaryExpr>(index);
  const bool is_remainder = index->kind == NodeKind::kFloorMod && IsEqual(binary->b, size);
  if (is_remainder && Decide(make_.Binary(NodeKind::kGT, size, Int(0))) == true) return true;
  if (index->kind == NodeKind::kFloorDiv && Decide(make_.Binary(NodeKind::kGT, binary->b, Int(0))) == true &&
      IsWithin(binary->a, Simplify(make_.Mul(size, binary->b)), given))
    return true;
  const auto is_below = [&](const PrimExpr* x) { return Follows(make_.Binary(NodeKind::kLT, x, size), given); };
  const auto is_number = [&](const PrimExpr* x) { return Follows(make_.Binary(NodeKind::kGE, x, Int(0)), given); };
  if (index->kind == NodeKind::kMin && is_number(binary->a) && is_number(binary->b) &&
      (is_below(binary->a) || is_below(binary->b)))
    return true;
  const Sum sum = SumOf(index);
  const bool is_least = bound.min >= 0 || std::ranges::all_of(sum, [&](const Monomial& monomial) {
                          return IsNonNegative(monomial, *this);
                        });
  if (const PrimExpr* most = is_least ? MostOf(index) : nullptr) {
    // The rest of what is less by 1 or more is not negative.
    const Sum slack = SumOf(make_.Sub(make_.Sub(size, most), Int(1)));
    if (std::ranges::all_of(slack, [&](const Monomial& monomial) { return IsNonNegative(monomial, *this); }))
      return true;
  }
  return Follows(make_.Binary(NodeKind::kAnd, make_.Binary(NodeKind::kGE, index, Int(0)),
                              make_.Binary(NodeKind::kLT, index, size)),
                 given);
}

// Each digit counts as many of the next one as that has values.
bool IndexSpace::InvertDigits(const Dims& indices, const Dims& outputs, const Dims& vars, const Dims& extents,
                              SymVarMap& values) {
  if (indices.size() != 1) return false;
  struct Digit {
    const PrimExpr* var;
    Monomial extent;
    Monomial scale;
  };
  std::vector<Digit> digits;
  Sum base = SumOf(indices[0]);
  for (size_t i = 0; i < vars.size(); ++i) {
    const Sum extent = SumOf(extents[i]);
    const auto uses = [&](const Monomial& monomial) {
      return std::ranges::find(monomial.factors, vars[i]) != monomial.factors.end();
    };
    const auto found = std::ranges::find_if(base, uses);
    if (extent.size() != 1 || found == base.end() || std::ranges::count_if(base, uses) != 1) return false;
    digits.push_back({vars[i], extent[0], *Quotient(*found, {1, {vars[i]}})});
    base.erase(found);
  }
  const auto is_greater = [](const Digit& a, const Digit& b) {
    if (a.scale.factors.size() != b.scale.factors.size()) return a.scale.factors.size() > b.scale.factors.size();
    return a.scale.number > b.scale.number;
  };
  std::ranges::sort(digits, is_greater);
  for (size_t i = 0; i + 1 < digits.size(); ++i) {
    const Monomial product = Product(digits[i + 1].scale, digits[i + 1].extent);
    if (product.number != digits[i].scale.number || product.factors != digits[i].scale.factors) return false;
  }
  const bool uses_vars = std::ranges::any_of(vars, [&](const PrimExpr* var) {
    const auto& used = VarsOf(ExprOf(base, make_));
    return std::ranges::find(used, var) != used.end();
  });
  // A stride of 0 is that of one element, and a negative one turns the order of remainders.
  const bool is_positive =
      digits.back().scale.number >= 1 && std::ranges::all_of(digits.back().scale.factors, [&](const PrimExpr* factor) {
        return Decide(make_.Binary(NodeKind::kGT, factor, Int(0))) == true;
      });
  if (uses_vars || !is_positive) return false;
  const PrimExpr* rest = make_.Sub(outputs[0], ExprOf(base, make_));
  for (const Digit& digit : digits) {
    const auto [quotient, remainder] = Divide(rest, ExprOf({digit.scale}, make_));
    values.Set(To<tir::Var>(digit.var), quotient);
    rest = remainder;
  }
  return true;
}

}  // namespace iropt::proof
