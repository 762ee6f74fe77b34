#include "symbolic_bounds.h"

#include <algorithm>

#include "iropt/ir/structural.h"

namespace iropt::codegen {

namespace {

constexpr size_t kMostTerms = 32;
constexpr int kMostEliminations = 24;
// Coefficients and numeric bounds beyond are not used.
__extension__ constexpr __int128 kMostFactor = __int128{1} << 62;

}  // namespace

// ---- Polynomials

SymbolicBounds::Terms SymbolicBounds::Constant(Wide value) { return value == 0 ? Terms() : Terms{{{}, value}}; }

std::optional<SymbolicBounds::Terms> SymbolicBounds::Sum(Terms a, const Terms& b, Wide factor) {
  for (const auto& [monomial, coefficient] : b) {
    Wide& sum = a[monomial];
    sum += coefficient * factor;
    if (sum > kMostFactor || sum < -kMostFactor) return std::nullopt;
    if (sum == 0) a.erase(monomial);
  }
  return a.size() <= kMostTerms ? std::optional(std::move(a)) : std::nullopt;
}

std::optional<SymbolicBounds::Terms> SymbolicBounds::Product(const Terms& a, const Terms& b) {
  std::optional<Terms> product = Terms();
  for (const auto& [left, factor] : a) {
    Terms part;
    for (const auto& [right, coefficient] : b) {
      Monomial both;
      std::ranges::merge(left, right, std::back_inserter(both));
      part[std::move(both)] = coefficient;
    }
    product = Sum(*std::move(product), part, factor);
    if (!product) return product;
  }
  return product;
}

std::optional<SymbolicBounds::Terms> SymbolicBounds::Divide(const Terms& a, int64_t divisor) {
  Terms quotient;
  for (const auto& [monomial, coefficient] : a) {
    if (coefficient % divisor != 0) return std::nullopt;
    quotient[monomial] = coefficient / divisor;
  }
  return quotient;
}

SymbolicBounds::Terms SymbolicBounds::AtomOf(Atom atom) {
  const auto is_same = [&](const Atom& other) {
    if (!atom.expr || !other.expr)
      return !atom.expr && !other.expr && atom.divisor == other.divisor && atom.dividend == other.dividend;
    return atom.expr == other.expr || (!Is<tir::Var>(atom.expr) && StructuralEqual(atom.expr, other.expr));
  };
  const auto at = std::ranges::find_if(atoms_, is_same);
  const auto number = static_cast<uint32_t>(at - atoms_.begin());
  if (at == atoms_.end()) atoms_.push_back(std::move(atom));
  return {{{number}, 1}};
}

std::optional<SymbolicBounds::Terms> SymbolicBounds::Expand(const PrimExpr* expr) {
  if (--budget_ < 0 || !expr->dtype.is_int() || expr->dtype.lanes != 1) return std::nullopt;
  if (const auto* number = As<tir::IntImm>(expr)) return Constant(number->value);
  if (const auto* var = As<tir::Var>(expr)) return ExpandVar(var);
  if (const auto* cast = As<tir::Cast>(expr)) {
    const PrimExpr* value = cast->value;
    const bool is_same = value->dtype.is_int() && value->dtype.lanes == 1 && IsExact(value) &&
                         ranges_.Of(value).IsWithin(IntRange::Of(expr->dtype));
    if (is_same) return Expand(value);
  }
  if (tir::BinaryExpr::ClassOf(expr->kind)) {
    if (auto terms = ExpandBinary(*static_cast<const tir::BinaryExpr*>(expr))) return terms;
    if (budget_ < 0) return std::nullopt;
  }
  if (!IndexRanges::IsStable(expr)) return std::nullopt;  // it may have another value elsewhere
  return AtomOf({.expr = expr, .range = ranges_.Of(expr), .order = UINT32_MAX});
}

std::optional<SymbolicBounds::Terms> SymbolicBounds::ExpandVar(const tir::Var* var) {
  const IndexRanges::Known* known = ranges_.Find(var);
  if (known && known->value && known->value->dtype == var->dtype) return Expand(known->value);
  Atom atom{.expr = var,
            .range = ranges_.Of(var),
            .end = known ? known->end : nullptr,
            .order = known ? known->order : UINT32_MAX};
  const int64_t least = atom.range.min;
  if (atom.order != 0 || least < -INT32_MAX || least > INT32_MAX || atom.range.max > kMostFactor)
    return AtomOf(std::move(atom));
  // The atom of a size is how much more it is than at least.
  atom.range = {0, atom.range.max - least};
  return Sum(AtomOf(std::move(atom)), Constant(least));
}

std::optional<SymbolicBounds::Terms> SymbolicBounds::ExpandBinary(const tir::BinaryExpr& expr) {
  const bool divides = expr.kind == NodeKind::kFloorDiv || expr.kind == NodeKind::kFloorMod;
  if (!divides && expr.kind != NodeKind::kAdd && expr.kind != NodeKind::kSub && expr.kind != NodeKind::kMul)
    return std::nullopt;
  auto a = Expand(expr.a);
  if (!a) return std::nullopt;
  if (divides) {
    const auto* divisor = As<tir::IntImm>(expr.b);
    return divisor && IsExact(expr.a) ? Quotient(expr, *std::move(a), divisor->value) : std::nullopt;
  }
  const auto b = Expand(expr.b);
  if (!b) return std::nullopt;
  if (expr.kind == NodeKind::kMul) return Product(*a, *b);
  return Sum(*std::move(a), *b, expr.kind == NodeKind::kAdd ? 1 : -1);
}

// A remainder is what a multiple of the quotient leaves; by -k it is that by k of the quotient rounded up.
std::optional<SymbolicBounds::Terms> SymbolicBounds::Quotient(const tir::BinaryExpr& expr, Terms dividend,
                                                              int64_t divisor) {
  const bool is_remainder = expr.kind == NodeKind::kFloorMod;
  if (divisor == 0 || divisor < -INT32_MAX || (divisor < 0 && !is_remainder)) return std::nullopt;
  const Terms whole = dividend;
  if (divisor < 0) {
    divisor = -divisor;
    auto rounded = Sum(std::move(dividend), Constant(divisor - 1));
    if (!rounded) return std::nullopt;
    dividend = *std::move(rounded);
  }
  std::optional<Terms> quotient = Divide(dividend, divisor);
  if (!quotient) {
    Atom atom{.expr = nullptr, .range = {}, .dividend = dividend, .divisor = divisor};
    const IntRange range = ranges_.Of(expr.a);
    if (range.min >= 0) atom.range = {0, range.max / divisor + 1};
    for (const auto& [monomial, coefficient] : dividend) {
      for (const uint32_t part : monomial) atom.order = std::max(atom.order, atoms_[part].order);
    }
    quotient = AtomOf(std::move(atom));
  }
  return is_remainder ? Sum(whole, *quotient, -divisor) : quotient;
}

std::optional<SymbolicBounds::Terms> SymbolicBounds::Expand(const Size& size) {
  std::optional<Terms> product = Constant(size.bytes);
  for (const PrimExpr* extent : size.extents) {
    const auto terms = Expand(extent);
    product = terms && product && IsExact(extent) ? Product(*product, *terms) : std::nullopt;
  }
  return product;
}

bool SymbolicBounds::IsExact(const PrimExpr* expr) const {
  int budget = 64;
  return IsExact(expr, budget);
}

// Returns whether no sum or product in the expression wraps around.
bool SymbolicBounds::IsExact(const PrimExpr* expr, int& budget) const {
  if (--budget < 0) return false;
  if (const auto* var = As<tir::Var>(expr)) {
    const IndexRanges::Known* known = ranges_.Find(var);
    return !known || !known->value || IsExact(known->value, budget);
  }
  if (const auto* cast = As<tir::Cast>(expr)) return IsExact(cast->value, budget);
  if (!tir::BinaryExpr::ClassOf(expr->kind)) return true;
  const auto& binary = *static_cast<const tir::BinaryExpr*>(expr);
  const bool computes = expr->kind == NodeKind::kAdd || expr->kind == NodeKind::kSub || expr->kind == NodeKind::kMul;
  return (!computes || ranges_.Fits(binary)) && IsExact(binary.a, budget) && IsExact(binary.b, budget);
}

// ---- Signs

// Returns whether all terms are at least 0, or at most 0.
bool SymbolicBounds::HasOneSign(const Terms& terms, bool negative) const {
  return std::ranges::all_of(terms, [&](const auto& term) {
    const auto is_positive = [&](uint32_t atom) { return atoms_[atom].range.min >= 0; };
    return (term.second < 0) == negative && std::ranges::all_of(term.first, is_positive);
  });
}

bool SymbolicBounds::IsNonNegative(Terms terms) {
  for (int step = 0; step < kMostEliminations; ++step) {
    if (HasOneSign(terms, false)) return true;
    // Quotients come before the variables of their dividends.
    const auto rank = [&](uint32_t atom) { return std::pair(atoms_[atom].order, atoms_[atom].expr == nullptr); };
    std::optional<uint32_t> next;
    for (const auto& [monomial, coefficient] : terms) {
      for (const uint32_t atom : monomial) {
        const bool is_size = atoms_[atom].order == 0 && atoms_[atom].expr;
        if (!is_size && (!next || rank(*next) < rank(atom))) next = atom;
      }
    }
    if (!next) break;
    if (!EliminateAtom(terms, *next)) return false;
  }
  return HasOneSign(terms, false);
}

bool SymbolicBounds::EliminateAtom(Terms& terms, uint32_t atom) {
  Terms factor, rest;
  for (const auto& [monomial, coefficient] : terms) {
    const auto uses = std::ranges::count(monomial, atom);
    if (uses > 1) return false;
    Monomial others = monomial;
    std::erase(others, atom);
    (uses == 1 ? factor : rest)[std::move(others)] = coefficient;
  }
  const bool negative = HasOneSign(factor, true);
  if (!negative && !HasOneSign(factor, false)) return false;
  const auto bound = LowerBound(factor, atom, negative);
  auto sum = bound ? Sum(std::move(rest), *bound) : std::nullopt;
  if (!sum) return false;
  terms = *std::move(sum);
  return true;
}

std::optional<SymbolicBounds::Terms> SymbolicBounds::LowerBound(const Terms& factor, uint32_t number, bool negative) {
  const Atom atom = atoms_[number];
  const Wide least = negative ? atom.range.max : atom.range.min;
  if (!atom.expr) {
    // q = a // k is from (a - k + 1) / k to a / k.
    const auto part = Divide(factor, atom.divisor);
    const auto bound =
        part && !negative ? Sum(atom.dividend, Constant(1 - atom.divisor)) : std::optional(atom.dividend);
    if (part && bound) return Product(*part, *bound);
  } else if (negative) {
    if (auto bound = LowerBoundByFacts(factor, number)) return bound;
    if (auto bound = LowerBoundByEnd(factor, atom)) return bound;
  }
  if (least > kMostFactor || least < -kMostFactor) return std::nullopt;
  return Product(factor, Constant(least));
}

// A variable v < a // k has k * v <= a - k.
std::optional<SymbolicBounds::Terms> SymbolicBounds::LowerBoundByEnd(const Terms& factor, const Atom& atom) {
  if (!atom.end || !IsExact(atom.end)) return std::nullopt;
  const PrimExpr* end = atom.end;
  const auto* quotient = As<tir::FloorDiv>(end);
  const auto* divisor = quotient ? As<tir::IntImm>(quotient->b) : nullptr;
  if (divisor && divisor->value > 0) {
    const auto part = Divide(factor, divisor->value);
    const auto dividend = part ? Expand(quotient->a) : std::nullopt;
    const auto bound = dividend ? Sum(*dividend, Constant(-divisor->value)) : std::nullopt;
    if (bound) return Product(*part, *bound);
  }
  const auto terms = Expand(end);
  const auto bound = terms ? Sum(*terms, Constant(-1)) : std::nullopt;
  return bound ? Product(factor, *bound) : std::nullopt;
}

// Of a condition 4 * v + i < n around the access: 4 * v <= n - 1 - i.
std::optional<SymbolicBounds::Terms> SymbolicBounds::LowerBoundByFacts(const Terms& factor, uint32_t atom) {
  for (const IndexRanges::Order& order : ranges_.orders()) {
    if (!IsExact(order.less) || !IsExact(order.greater)) continue;
    const auto less = Expand(order.less), greater = Expand(order.greater);
    auto room = less && greater ? Sum(*greater, *less, -1) : std::nullopt;
    if (room && order.is_strict) room = Sum(*std::move(room), Constant(-1));
    if (!room) continue;
    const auto at = room->find({atom});
    const auto has_atom = [&](const auto& term) { return std::ranges::find(term.first, atom) != term.first.end(); };
    if (at == room->end() || at->second >= 0 || at->second < -INT32_MAX || std::ranges::count_if(*room, has_atom) != 1)
      continue;
    const auto part = Divide(factor, static_cast<int64_t>(-at->second));
    if (!part) continue;
    room->erase(at);
    return Product(*part, *room);
  }
  return std::nullopt;
}

// ---- Questions

bool SymbolicBounds::IsInBounds(const PrimExpr* index, const PrimExpr* extent) {
  if (const auto* broadcast = As<tir::Broadcast>(index)) return IsInBounds(broadcast->value, extent);
  Wide reach = 0;  // of the last lane
  if (const auto* ramp = As<tir::Ramp>(index)) {
    const auto* stride = As<tir::IntImm>(ramp->stride);
    if (!stride || stride->value < 0 || stride->value > INT32_MAX) return false;
    reach = Wide{stride->value} * (index->dtype.lanes - 1);
    index = ramp->base;
  }
  if (!IsExact(extent) || ranges_.Of(extent).max > IntRange::Of(index->dtype).max) return false;
  const auto at = Expand(index), end = Expand(extent);
  if (!at || !end) return false;
  const auto rest = Sum(*end, *at, -1);
  const auto room = rest ? Sum(*rest, Constant(-1 - reach)) : std::nullopt;
  return room && IsNonNegative(*at) && IsNonNegative(*room);
}

bool SymbolicBounds::IsAtMost(const Size& a, const Size& b) {
  const auto less = Expand(a), greater = Expand(b);
  const auto room = less && greater ? Sum(*greater, *less, -1) : std::nullopt;
  return room && IsNonNegative(*room);
}

}  // namespace iropt::codegen
