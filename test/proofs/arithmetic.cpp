#include "arithmetic.h"

#include "iropt/support/check.h"

namespace iropt::proofs {

z3::expr Arithmetic::Fits(const z3::expr& a, const z3::expr& b, const z3::expr& remainder, bool truncates) {
  const z3::expr size = z3::ite(b > 0, b, -b);
  if (!truncates) return z3::ite(b > 0, remainder >= 0 && remainder < b, remainder <= 0 && remainder > b);
  return z3::ite(a >= 0, remainder >= 0 && remainder < size, remainder <= 0 && remainder > -size);
}

const Arithmetic::Division& Arithmetic::Divide(const z3::expr& a, const z3::expr& b, bool truncates) {
  divisors_.push_back(b);
  for (const Division& known : divisions_) {
    if (z3::eq(known.a, a) && z3::eq(known.b, b) && known.truncates == truncates) return known;
  }
  const std::string number = std::to_string(divisions_.size());
  const z3::expr quotient = context_.int_const(("quotient" + number).c_str());
  const z3::expr remainder = context_.int_const(("remainder" + number).c_str());
  divisions_.push_back({a, b, quotient, remainder, truncates});
  return divisions_.back();
}

z3::expr Arithmetic::AxiomOf(size_t quotient) const {
  const Division& division = divisions_[quotient];
  return division.a == division.b * division.quotient + division.remainder &&
         Fits(division.a, division.b, division.remainder, division.truncates);
}

z3::expr Arithmetic::TakeDefined() {
  z3::expr defined = context_.bool_val(true);
  for (const z3::expr& divisor : divisors_) defined = defined && divisor != 0;
  divisors_.clear();
  return defined;
}

z3::expr_vector Arithmetic::UniqueQuotients(const std::vector<z3::expr>& candidates) {
  z3::expr_vector lemmas(context_);
  for (const Division& division : divisions_) {
    for (const z3::expr& candidate : candidates) {
      const z3::expr rest = division.a - division.b * candidate;
      lemmas.push_back(z3::implies(Fits(division.a, division.b, rest, division.truncates),
                                   division.quotient == candidate && division.remainder == rest));
    }
  }
  return lemmas;
}

z3::expr Arithmetic::Apply(NodeKind kind, const z3::expr& a, const z3::expr& b) {
  switch (kind) {
    case NodeKind::kAdd: return a + b;
    case NodeKind::kSub: return a - b;
    case NodeKind::kMul: return a * b;
    case NodeKind::kDiv: return Divide(a, b, /*truncates=*/true).quotient;
    case NodeKind::kMod: return Divide(a, b, /*truncates=*/true).remainder;
    case NodeKind::kFloorDiv: return Divide(a, b, /*truncates=*/false).quotient;
    case NodeKind::kFloorMod: return Divide(a, b, /*truncates=*/false).remainder;
    case NodeKind::kMin: return z3::ite(a <= b, a, b);
    case NodeKind::kMax: return z3::ite(a >= b, a, b);
    case NodeKind::kEQ: return a == b;
    case NodeKind::kNE: return a != b;
    case NodeKind::kLT: return a < b;
    case NodeKind::kLE: return a <= b;
    case NodeKind::kGT: return a > b;
    case NodeKind::kGE: return a >= b;
    case NodeKind::kAnd: return a && b;
    case NodeKind::kOr: return a || b;
    default: IROPT_UNREACHABLE("{} as an operation of integers", NodeKindName(kind));
  }
}

}  // namespace iropt::proofs
