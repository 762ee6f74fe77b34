#include "analysis/tir/races/sums.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <ranges>
#include <utility>

#include "iropt/arith/const_fold.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt::races {

namespace {

using arith::IntBound;

// Beyond these a proof is not quick.
constexpr size_t kMaxAtoms = 96;
constexpr size_t kMaxTerms = 64;
constexpr int kMaxFactDepth = 2;
constexpr int kMaxDepth = 64;

int64_t SaturatingAdd(int64_t a, int64_t b, int64_t overflow) {
  if (a == overflow || b == overflow) return overflow;
  return arith::CheckedAdd(a, b).value_or(overflow);
}

IntBound Scaled(IntBound bound, int64_t scale) {
  const auto times = [&](int64_t value) {
    if (value == IntBound::kNegInf || value == IntBound::kPosInf)
      return (value > 0) == (scale > 0) ? IntBound::kPosInf : IntBound::kNegInf;
    return arith::CheckedMul(value, scale).value_or((value > 0) == (scale > 0) ? IntBound::kPosInf : IntBound::kNegInf);
  };
  const int64_t a = times(bound.min);
  const int64_t b = times(bound.max);
  return {std::min(a, b), std::max(a, b)};
}

bool IsInteger(DataType dtype) { return dtype.is_scalar() && dtype.is_integer() && !dtype.is_bool(); }

}  // namespace

int64_t Sums::ConstantOf(const Sum& sum) {
  const auto found = sum.find({});
  return found == sum.end() ? 0 : found->second;
}

Sum Sums::Plus(const Sum& a, const Sum& b, int64_t scale) {
  Sum result = a;
  for (const auto& [monomial, coefficient] : b) {
    const auto product = arith::CheckedMul(coefficient, scale);
    int64_t& entry = result[monomial];
    const auto sum = product ? arith::CheckedAdd(entry, *product) : product;
    overflowed_ |= !sum;
    entry = sum.value_or(0);
    if (entry == 0) result.erase(monomial);
  }
  overflowed_ |= result.size() > kMaxTerms;
  return result;
}

Sum Sums::Times(const Sum& a, const Sum& b) {
  Sum result;
  if (overflowed_) return result;
  for (const auto& [left, x] : a) {
    for (const auto& [right, y] : b) {
      Monomial both;
      std::ranges::merge(left, right, std::back_inserter(both));
      const auto product = arith::CheckedMul(x, y);
      overflowed_ |= !product;
      result = Plus(result, {{std::move(both), product.value_or(1)}});
    }
  }
  return result;
}

// ---- From expressions

uint32_t Sums::AddAtom(Atom atom) {
  overflowed_ |= atoms_.size() >= kMaxAtoms;
  atoms_.push_back(std::move(atom));
  return static_cast<uint32_t>(atoms_.size() - 1);
}

uint32_t Sums::AtomOf(const PrimExpr* expr) {
  const auto* var = As<tir::Var>(expr);
  if (const uint32_t* known = var ? vars_.Find(var) : nullptr) return *known;
  for (uint32_t i = 0; !var && i < atoms_.size(); ++i) {
    if (atoms_[i].expr && DeepEqual(atoms_[i].expr, expr)) return i;
  }
  uint8_t sides = kCommon;
  tir::UsesVar(expr, [&](const tir::Var* used) {
    if (const uint8_t* side = sides_.Find(used)) sides |= *side;
    return false;
  });
  const bool is_integer = IsInteger(expr->dtype);
  const uint32_t atom =
      AddAtom({.expr = expr, .bound = is_integer ? analyzer_.Bound(expr) : IntBound(), .sides = sides});
  if (var) vars_[var] = atom;
  return atom;
}

Sum Sums::Of(const PrimExpr* expr) {
  if (overflowed_) return {};
  return WithStack([&] {
    if (const int64_t* value = arith::AsInt(expr)) return Constant(*value);
    if (!IsInteger(expr->dtype)) return OfAtom(AtomOf(expr));
    if (const auto* cast = As<tir::Cast>(expr))
      return cast->dtype.bits >= 32 && IsInteger(cast->value->dtype) ? Of(cast->value) : OfAtom(AtomOf(expr));
    if (const auto* call = As<tir::Call>(expr)) return OfCall(*call);
    const auto* binary = As<tir::BinaryExpr>(expr);
    switch (expr->kind) {
      case NodeKind::kAdd: return Plus(Of(binary->a), Of(binary->b));
      case NodeKind::kSub: return Plus(Of(binary->a), Of(binary->b), -1);
      case NodeKind::kMul: return Times(Of(binary->a), Of(binary->b));
      case NodeKind::kDiv:
      case NodeKind::kFloorDiv: return OfDivision(*binary, /*is_quotient=*/true);
      case NodeKind::kMod:
      case NodeKind::kFloorMod: return OfDivision(*binary, /*is_quotient=*/false);
      default: return OfAtom(AtomOf(expr));
    }
  });
}

Sum Sums::OfCall(const tir::Call& call) {
  if (IsOp(call.op, op::kTirLikely) || IsOp(call.op, op::kTirTvmThreadInvariant)) return Of(call.args[0]);
  const int64_t* number = call.args.size() == 2 ? arith::AsInt(call.args[1]) : nullptr;
  if (!number || *number < 0) return OfAtom(AtomOf(&call));
  const bool is_shift = *number < 62;
  if (is_shift && IsOp(call.op, op::kTirShiftLeft)) return Times(Of(call.args[0]), Constant(int64_t{1} << *number));
  if (is_shift && IsOp(call.op, op::kTirShiftRight)) return Quotient(Of(call.args[0]), int64_t{1} << *number);
  const bool is_mask = *number < (int64_t{1} << 61) && (*number & (*number + 1)) == 0;
  if (!is_mask || !IsOp(call.op, op::kTirBitwiseAnd)) return OfAtom(AtomOf(&call));
  const Sum value = Of(call.args[0]);
  return Plus(value, Quotient(value, *number + 1), -(*number + 1));
}

Sum Sums::OfDivision(const tir::BinaryExpr& expr, bool is_quotient) {
  const Sum dividend = Of(expr.a);
  const Sum divisor = Of(expr.b);
  // Where nothing is negative, all divisions are the same.
  const bool rounds_down = expr.kind == NodeKind::kFloorDiv || expr.kind == NodeKind::kFloorMod;
  if (!rounds_down && !IsNeverPositive(Plus({}, dividend, -1))) return OfAtom(AtomOf(&expr));
  std::optional<Sum> quotient = Quotient(dividend, divisor);
  if (!quotient) {
    quotient = OfAtom(AtomOf(analyzer_.make().FloorDiv(expr.a, expr.b)));
    if (IsNeverPositive(Plus(Constant(1), divisor, -1))) AddFactsOfRest(dividend, *quotient, divisor);
  }
  return is_quotient ? *quotient : Plus(dividend, Times(*quotient, divisor), -1);
}

// 0 <= dividend - divisor * quotient < divisor
void Sums::AddFactsOfRest(const Sum& dividend, const Sum& quotient, const Sum& divisor) {
  const Sum rest = Plus(dividend, Times(quotient, divisor), -1);
  AddFact(Plus({}, rest, -1));
  AddFact(Plus(Plus(rest, divisor, -1), Constant(1)));
}

std::optional<Sum> Sums::Quotient(const Sum& sum, const Sum& divisor) {
  if (divisor.size() != 1 || divisor.begin()->second <= 0) return {};
  const auto& [symbols, factor] = *divisor.begin();
  if (symbols.empty()) return Quotient(sum, factor);
  // Multiples of the divisor; the rest must be smaller.
  Sum multiple;
  Sum rest;
  for (const auto& [monomial, coefficient] : sum) {
    const bool divides = coefficient % factor == 0 && std::ranges::includes(monomial, symbols);
    Monomial others;
    if (divides) std::ranges::set_difference(monomial, symbols, std::back_inserter(others));
    if (divides)
      multiple[others] = coefficient / factor;
    else
      rest[monomial] = coefficient;
  }
  const bool is_small =
      IsNeverPositive(Plus({}, rest, -1)) && IsNeverPositive(Plus(Plus(rest, divisor, -1), Constant(1)));
  return is_small ? std::optional(multiple) : std::nullopt;
}

Sum Sums::Quotient(const Sum& sum, int64_t divisor) {
  Sum multiple;
  Sum rest;
  for (const auto& [monomial, coefficient] : sum) {
    const int64_t quotient = arith::FloorDivInt(coefficient, divisor);
    if (quotient != 0) multiple[monomial] = quotient;
    if (coefficient != quotient * divisor) rest[monomial] = coefficient - quotient * divisor;
  }
  return rest.empty() || overflowed_ ? multiple : Plus(multiple, ReducedQuotient(rest, divisor));
}

// The coefficients are from 1 to divisor - 1.
Sum Sums::ReducedQuotient(const Sum& rest, int64_t divisor) {
  // (x // 4 + y) // 2 is (x + 4 * y) // 8.
  const auto is_quotient = [&](const auto& term) {
    return term.first.size() == 1 && term.second == 1 && atoms_[term.first[0]].divisor != 0;
  };
  if (std::ranges::count_if(rest, is_quotient) == 1) {
    const uint32_t number = std::ranges::find_if(rest, is_quotient)->first[0];
    const Atom inner = atoms_[number];
    const auto product = arith::CheckedMul(inner.divisor, divisor);
    if (product) {
      const Sum others = Plus(rest, OfAtom(number), -1);
      return Quotient(Plus(inner.numerator, others, inner.divisor), *product);
    }
  }
  // (64 * x + y) // 128 is x // 2 if y is less than 64.
  std::vector<std::pair<int64_t, Monomial>> terms;
  for (const auto& [monomial, coefficient] : rest) {
    if (!monomial.empty()) terms.emplace_back(coefficient, monomial);
  }
  std::ranges::sort(terms, std::greater());
  int64_t factor = divisor;
  Sum small = rest;
  Sum large;
  for (size_t i = 0; i <= terms.size() && factor > 1; ++i) {
    const IntBound bound = BoundOf(small);
    if (bound.min >= 0 && bound.max < factor) {
      for (auto& [monomial, coefficient] : large) coefficient /= factor;
      return large.empty() || factor == divisor ? large : Quotient(large, divisor / factor);
    }
    if (i == terms.size()) break;
    factor = std::gcd(factor, terms[i].first);
    small.erase(terms[i].second);
    large[terms[i].second] = terms[i].first;
  }
  return OfAtom(QuotientAtom(rest, divisor));
}

uint32_t Sums::QuotientAtom(const Sum& numerator, int64_t divisor) {
  const auto known = quotients_.find({numerator, divisor});
  if (known != quotients_.end()) return known->second;
  IntBound bound = BoundOf(numerator);
  if (bound.min != IntBound::kNegInf) bound.min = arith::FloorDivInt(bound.min, divisor);
  if (bound.max != IntBound::kPosInf) bound.max = arith::FloorDivInt(bound.max, divisor);
  const uint32_t atom =
      AddAtom({.bound = bound, .sides = SidesOf(numerator), .numerator = numerator, .divisor = divisor});
  quotients_[{numerator, divisor}] = atom;
  AddFactsOfRest(numerator, OfAtom(atom), Constant(divisor));
  return atom;
}

// ---- Bounds

uint8_t Sums::SidesOf(const Sum& sum) const {
  uint8_t sides = kCommon;
  for (const auto& [monomial, coefficient] : sum) {
    for (const uint32_t atom : monomial) sides |= atoms_[atom].sides;
  }
  return sides;
}

IntBound Sums::BoundOf(const Monomial& monomial) const {
  IntBound result = {1, 1};
  for (const uint32_t atom : monomial) {
    const IntBound bound = atoms_[atom].bound;
    if (monomial.size() == 1) return bound;
    if (bound.min < 0) return {};
    result.min = arith::CheckedMul(result.min, bound.min).value_or(0);
    const bool is_infinite = result.max == IntBound::kPosInf || bound.max == IntBound::kPosInf;
    result.max = is_infinite ? IntBound::kPosInf : arith::CheckedMul(result.max, bound.max).value_or(IntBound::kPosInf);
  }
  return result;
}

IntBound Sums::BoundOf(const Sum& sum) const {
  IntBound result = {0, 0};
  for (const auto& [monomial, coefficient] : sum) {
    const IntBound term = Scaled(BoundOf(monomial), coefficient);
    result.min = SaturatingAdd(result.min, term.min, IntBound::kNegInf);
    result.max = SaturatingAdd(result.max, term.max, IntBound::kPosInf);
  }
  return result;
}

void Sums::AddFact(Sum sum) {
  if (!sum.empty()) facts_.push_back(std::move(sum));
}

// sum <= sum - k * fact for each fact and k > 0.
int64_t Sums::UpperBound(const Sum& sum, int depth) {
  int64_t result = BoundOf(sum).max;
  for (size_t i = 0; depth > 0 && i < facts_.size(); ++i) {
    const Sum& fact = facts_[i];
    // The factor is that of the first term that both have.
    const auto shared = std::ranges::find_if(fact, [&](const auto& term) {
      const auto own = sum.find(term.first);
      return !term.first.empty() && own != sum.end() && (own->second > 0) == (term.second > 0) &&
             own->second % term.second == 0;
    });
    if (shared == fact.end()) continue;
    const Sum rest = Plus(sum, fact, -(sum.at(shared->first) / shared->second));
    if (rest.size() <= sum.size() + 1) result = std::min(result, UpperBound(rest, depth - 1));
  }
  return result;
}

bool Sums::IsNeverPositive(const Sum& sum) {
  if (BoundOf(sum).max <= 0) return true;
  // The facts are about one side each. What both have in common is added to one of them.
  for (const Sides side : {kFirst, kSecond}) {
    Sum parts[2];
    for (const auto& [monomial, coefficient] : sum)
      parts[(SidesOf({{monomial, 1}}) & side) != 0][monomial] = coefficient;
    const int64_t bound = UpperBound(parts[0], kMaxFactDepth);
    if (SaturatingAdd(bound, UpperBound(parts[1], kMaxFactDepth), IntBound::kPosInf) <= 0) return true;
  }
  return false;
}

// ---- Values

void Sums::Assign(uint32_t atom, Sum value) {
  values_[atom] = std::move(value);
  applied_.clear();
}

Sum Sums::Apply(const Sum& sum) {
  Sum result;
  // Values may depend on each other in a circle.
  if (depth_ == kMaxDepth) overflowed_ = true;
  if (overflowed_) return result;
  ++depth_;
  for (const auto& [monomial, coefficient] : sum) {
    Sum product = Constant(coefficient);
    for (const uint32_t atom : monomial) {
      Sum value = OfAtom(atom);
      if (const auto found = values_.find(atom); found != values_.end()) {
        value = Apply(found->second);
      } else if (atoms_[atom].divisor != 0) {
        auto known = applied_.find(atom);
        if (known == applied_.end()) {
          // Atoms may move.
          const Sum numerator = atoms_[atom].numerator;
          Sum applied = Apply(numerator);
          if (applied != numerator) value = Quotient(applied, atoms_[atom].divisor);
          known = applied_.insert_or_assign(atom, std::move(value)).first;
        }
        value = known->second;
      }
      product = Times(product, value);
    }
    result = Plus(result, product);
  }
  --depth_;
  return result;
}

void Sums::SplitIntoDigits() {
  std::map<uint32_t, std::vector<int64_t>> divisors;
  for (const Atom& atom : atoms_) {
    const bool is_of_atom = atom.divisor != 0 && atom.numerator.size() == 1 && atom.numerator.begin()->second == 1 &&
                            atom.numerator.begin()->first.size() == 1;
    if (is_of_atom) divisors[atom.numerator.begin()->first[0]].push_back(atom.divisor);
  }
  for (auto& [number, list] : divisors) {
    const Atom whole = atoms_[number];
    if (whole.bound.min < 0) continue;
    std::ranges::sort(list);
    Sum value;
    int64_t unit = 1;
    for (const int64_t divisor : list) {
      if (divisor % unit != 0 || divisor == unit) continue;
      const uint32_t digit = AddAtom({.bound = {0, divisor / unit - 1}, .sides = whole.sides});
      value = Plus(value, OfAtom(digit), unit);
      unit = divisor;
    }
    const int64_t last = whole.bound.max == IntBound::kPosInf ? IntBound::kPosInf : whole.bound.max / unit;
    value = Plus(value, OfAtom(AddAtom({.bound = {0, last}, .sides = whole.sides})), unit);
    Assign(number, std::move(value));
  }
  // New facts may come with new quotients.
  for (size_t i = 0, count = facts_.size(); i < count; ++i) {
    const Sum fact = facts_[i];
    facts_[i] = Apply(fact);
  }
}

}  // namespace iropt::races
