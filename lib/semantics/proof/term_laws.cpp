// The laws by which terms get a normal form. Without Laws::reals, they hold for every float, and signed zeros.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "iropt/ir/tir/visitor.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/roots.h"
#include "iropt/op/ops/statistical.h"
#include "iropt/op/ops/unary.h"
#include "iropt/support/stack.h"
#include "semantics/proof/polynomial.h"
#include "semantics/proof/term_builder.h"

namespace iropt::proof {

namespace {

bool IsRing(OpId op) { return op == op::kAdd || op == op::kSubtract || op == op::kMultiply || op == op::kNegative; }

bool IsNumeric(DataType dtype) { return dtype.is_integer() && !dtype.is_bool(); }

// Of floats, the sign of a zero depends on the order of the operands of a maximum.
bool Commutes(OpId op, DataType dtype, const Laws& laws) {
  switch (op) {
    case op::kAdd:
    case op::kMultiply:
    case op::kEqual:
    case op::kNotEqual:
    case op::kBitwiseAnd:
    case op::kBitwiseOr:
    case op::kBitwiseXor:
    case op::kLogicalAnd:
    case op::kLogicalOr:
    case op::kLogicalXor: return true;
    case op::kMaximum:
    case op::kMinimum: return dtype.is_integer() || laws.reals;
    default: return false;
  }
}

bool IsApply(const Term* term, OpId op) { return term->kind == TermKind::kApply && term->op == op; }

// Operators that do not change what they compute.
bool IsIdempotent(OpId op) {
  switch (op) {
    case op::kAbs:
    case op::kCeil:
    case op::kFloor:
    case op::kRound:
    case op::kTrunc:
    case op::kSign:
    case op::kNnRelu: return true;
    default: return false;
  }
}

// Returns whether every value of one dtype is one of the other.
bool Holds(DataType wide, DataType narrow) {
  if (wide == narrow) return true;
  if (narrow.is_bool()) return wide.is_integer() || wide.is_floating();
  if (narrow.is_integer() && wide.is_integer()) {
    if (narrow.is_uint() && wide.is_int()) return wide.bits > narrow.bits;
    return narrow.is_int() == wide.is_int() && wide.bits >= narrow.bits;
  }
  const auto digits = [](DataType dtype) {
    if (dtype == DataType::Float(16)) return 11;
    if (dtype == DataType::Float(32)) return 24;
    return dtype == DataType::Float(64) ? 53 : 0;
  };
  if (narrow.is_integer()) return digits(wide) >= narrow.bits;
  if (digits(wide) == 0) return false;
  if (narrow.code == TypeCode::kBFloat) return wide.bits >= 32;
  return digits(narrow) != 0 && digits(wide) >= digits(narrow);
}

// A number at the variable of a reduction.
struct Bound {
  size_t place;
  int64_t value;
};
struct SizeBound {
  size_t place;
  const PrimExpr* value;
};

// A size within the extent below which the variable of a reduction chooses the first of two elements.
std::optional<SizeBound> FindBound(const Term* term, IndexSpace& indices, LookupSet<const Term*>& seen) {
  if (!term->uses_reduction || !seen.insert(term)) return std::nullopt;
  if (term->kind == TermKind::kSelect) {
    const auto* less = As<tir::BinaryExpr>(term->indices[0]);
    const IndexSpace::Place* place = less && less->kind == NodeKind::kLT ? indices.PlaceOf(less->a) : nullptr;
    const bool is_size = place && place->is_reduction && indices.VarsOf(less->b).empty();
    if (is_size && less->b != place->extent && !arith::IsInt(less->b, 0)) {
      const arith::PrimBuilder& make = indices.make();
      if (indices.Decide(make.Binary(NodeKind::kLE, less->b, place->extent)) == true &&
          indices.Decide(make.Binary(NodeKind::kLE, indices.Int(0), less->b)) == true)
        return SizeBound{place->number, less->b};
    }
  }
  for (const Term* arg : term->args) {
    if (const auto bound = WithStack([&] { return FindBound(arg, indices, seen); })) return bound;
  }
  return std::nullopt;
}

// A divisor of the extent by which the body divides the variable of a reduction.
std::optional<Bound> FindQuotient(const Term* term, const IndexSpace& indices, LookupSet<const Term*>& seen) {
  if (!term->uses_reduction || !seen.insert(term)) return std::nullopt;
  std::optional<Bound> found;
  for (const PrimExpr* index : term->indices) {
    tir::PostOrderVisit(index, [&](const Node* node) {
      if (node->kind != NodeKind::kFloorDiv && node->kind != NodeKind::kFloorMod) return;
      const auto* quotient = static_cast<const tir::BinaryExpr*>(node);
      const IndexSpace::Place* place = indices.PlaceOf(quotient->a);
      const int64_t* divisor = arith::AsInt(quotient->b);
      const int64_t* extent = place && place->is_reduction ? arith::AsInt(place->extent) : nullptr;
      if (divisor && extent && *divisor > 1 && *divisor < *extent && *extent % *divisor == 0)
        found = Bound{place->number, *divisor};
    });
    if (found) return found;
  }
  for (const Term* arg : term->args) {
    found = WithStack([&] { return FindQuotient(arg, indices, seen); });
    if (found) return found;
  }
  return found;
}

// A reduction of reductions as one; null if the body is not one.
const Term* MergeReductions(OpId op, const Dims& reduced, const Term* body, TermBuilder& terms) {
  IndexSpace& indices = terms.indices();
  if (body->kind != TermKind::kRead || body->args[0]->kind != TermKind::kReduce || body->args[0]->op != op)
    return nullptr;
  if (!terms.laws().AreRing(body->dtype) || (op != op::kSum && op != op::kMax && op != op::kMin && op != op::kProd))
    return nullptr;
  const Term& inner = *body->args[0];
  const auto num_dims = static_cast<size_t>(inner.number);
  SymVarMap map;
  Dims all = reduced;
  for (size_t i = 0; i < inner.indices.size(); ++i) {
    const PrimExpr* extent = inner.indices[i];
    const PrimExpr* var = i < num_dims ? indices.Index(i, extent) : indices.Reduction(i - num_dims, extent);
    const PrimExpr* value = i < num_dims ? body->indices[i] : indices.Reduction(all.size(), extent);
    if (i >= num_dims) all.push_back(extent);
    if (var != value && Is<tir::Var>(var)) map.Set(To<tir::Var>(var), value);
  }
  return terms.Reduce(op, all, terms.Substitute(inner.args[0], map));
}

// With two variables instead of one of which the body uses quotient and remainder; null if there is none. The order of
// elements stays if it is the last one.
const Term* SplitVariable(OpId op, const Dims& reduced, const Term* body, bool is_ordered, TermBuilder& terms) {
  IndexSpace& indices = terms.indices();
  LookupSet<const Term*> seen;
  const std::optional<Bound> found = FindQuotient(body, indices, seen);
  if (!found || (is_ordered && found->place + 1 != reduced.size())) return nullptr;
  Dims all = reduced;
  const int64_t extent = *arith::AsInt(reduced[found->place]);
  all[found->place] = indices.Int(extent / found->value);
  all.push_back(indices.Int(found->value));
  const arith::PrimBuilder& make = indices.make();
  const PrimExpr* whole = make.Mul(indices.Reduction(found->place, all[found->place]), indices.Int(found->value));
  SymVarMap map;
  map.Set(To<tir::Var>(indices.Reduction(found->place, reduced[found->place])),
          make.Add(whole, indices.Reduction(reduced.size(), all.back())));
  return terms.Reduce(op, all, terms.Substitute(body, map));
}

// A divisor in a remainder of the variable of a reduction.
std::optional<Bound> FindRemainder(const PrimExpr* condition, const IndexSpace& indices) {
  constexpr int64_t kMostDivisor = 16;
  std::optional<Bound> found;
  tir::PostOrderVisit(condition, [&](const Node* node) {
    if (node->kind != NodeKind::kFloorMod) return;
    const auto* remainder = static_cast<const tir::BinaryExpr*>(node);
    const IndexSpace::Place* place = indices.PlaceOf(remainder->a);
    const int64_t* divisor = arith::AsInt(remainder->b);
    if (place && place->is_reduction && divisor && *divisor > 1 && *divisor <= kMostDivisor)
      found = Bound{place->number, *divisor};
  });
  return found;
}

// The sum at multiples of a number, if the body is 0 everywhere else; null otherwise.
const Term* SumOfMultiples(const Dims& reduced, const Term* body, TermBuilder& terms) {
  IndexSpace& indices = terms.indices();
  if (!terms.laws().AreRing(body->dtype) || body->kind != TermKind::kSelect || terms.ValueOf(body->args[1]) != 0.0)
    return nullptr;
  const std::optional<Bound> found = FindRemainder(body->indices[0], indices);
  if (!found) return nullptr;
  const arith::PrimBuilder& make = indices.make();
  const PrimExpr* extent = reduced[found->place];
  if (arith::IsInt(extent, 1)) return nullptr;
  Dims dims = reduced;
  dims[found->place] = indices.Dimension(make.CeilDiv(extent, indices.Int(found->value)));
  const PrimExpr* multiple = make.Mul(indices.Reduction(found->place, dims[found->place]), indices.Int(found->value));
  const auto* var = To<tir::Var>(indices.Reduction(found->place, extent));
  SymVarMap map;
  for (int64_t rest = 1; rest < found->value; ++rest) {
    map.Set(var, make.Add(multiple, indices.Int(rest)));
    if (indices.Decide(indices.Substitute(body->indices[0], map)) != false) return nullptr;
  }
  map.Set(var, multiple);
  return terms.Reduce(op::kSum, dims, terms.Substitute(body, map));
}

// The reduction of a range and of the rest, if the body is a choice between them; null otherwise.
const Term* SplitRange(OpId op, const Dims& reduced, const Term* body, TermBuilder& terms) {
  IndexSpace& indices = terms.indices();
  if (!terms.laws().AreRing(body->dtype) || (op != op::kSum && op != op::kMax && op != op::kMin)) return nullptr;
  LookupSet<const Term*> seen;
  const auto bound = FindBound(body, indices, seen);
  // The greatest element of a part that may be empty is not known.
  const bool has_parts = bound && arith::AsInt(bound->value) && arith::AsInt(reduced[bound->place]);
  if (!bound || (!has_parts && op != op::kSum)) return nullptr;
  const size_t at = bound->place;
  const PrimExpr* var = indices.Reduction(at, reduced[at]);
  const Term* parts[2];
  for (const bool is_first : {true, false}) {
    Dims dims = reduced;
    dims[at] =
        is_first ? indices.Dimension(bound->value) : indices.Dimension(indices.make().Sub(reduced[at], bound->value));
    const PrimExpr* index = indices.Reduction(at, dims[at]);
    SymVarMap map;
    map.Set(To<tir::Var>(var), is_first ? index : indices.make().Add(index, bound->value));
    parts[is_first ? 0 : 1] = terms.Reduce(op, dims, terms.Substitute(body, map));
  }
  const OpId both = op == op::kSum ? op::kAdd : op == op::kMax ? op::kMaximum : op::kMinimum;
  return terms.Apply(both, nullptr, {parts[0], parts[1]}, body->dtype);
}

const Term* CastLaws(const Term* x, DataType dtype, TermBuilder& terms) {
  if (x->dtype == dtype) return x;
  if (!IsApply(x, op::kAstype)) return nullptr;
  const Term* inner = x->args[0];
  // What the first conversion keeps, the second one sees.
  if (Holds(x->dtype, inner->dtype)) return inner->dtype == dtype ? inner : terms.Cast(inner, dtype);
  return nullptr;
}

const Term* RingLaws(OpId op, const std::vector<const Term*>& args, DataType dtype, TermBuilder& terms) {
  if (op == op::kSquare) return RingLaws(op::kMultiply, {args[0], args[0]}, dtype, terms);
  if (!IsRing(op)) return nullptr;
  const auto polynomial = Polynomial::OfCall(op, args, dtype, terms);
  if (!polynomial) return nullptr;
  return polynomial->ToTerm(terms);
}

const Term* IndexLaws(OpId op, const std::vector<const Term*>& args, DataType dtype, TermBuilder& terms) {
  constexpr int64_t kMostNumber = int64_t{1} << 32;
  if (args.size() != 2 || dtype != DataType::Int(64)) return nullptr;
  const auto value_of = [&](const Term* term) -> const PrimExpr* {
    if (term->dtype != dtype) return nullptr;
    if (term->kind == TermKind::kIndex) return term->indices[0];
    const bool is_small = term->kind == TermKind::kNumber && std::abs(term->number) < kMostNumber;
    return is_small ? terms.indices().Int(term->number) : nullptr;
  };
  const PrimExpr* a = value_of(args[0]);
  const PrimExpr* b = value_of(args[1]);
  if (!a || !b) return nullptr;
  const arith::PrimBuilder& make = terms.indices().make();
  if (op == op::kAdd) return terms.Index(make.Add(a, b));
  if (op == op::kSubtract) return terms.Index(make.Sub(a, b));
  if (op != op::kMod && op != op::kFloorMod) return nullptr;
  const PrimExpr* zero = terms.indices().Int(0);
  if (terms.indices().Decide(make.Binary(NodeKind::kGT, b, zero)) != true) return nullptr;
  const bool truncates = op == op::kMod && terms.indices().Decide(make.Binary(NodeKind::kGE, a, zero)) != true;
  if (truncates) return terms.Index(make.TruncMod(a, b));
  // The divisor itself leaves no remainder.
  const auto* sum = As<tir::BinaryExpr>(a);
  if (sum && sum->kind == NodeKind::kAdd && sum->b == b) a = sum->a;
  if (sum && sum->kind == NodeKind::kAdd && sum->a == b) a = sum->b;
  return terms.Index(make.FloorMod(a, b));
}

// A NaN is not equal to itself.
const Term* CompareLaws(OpId op, const std::vector<const Term*>& args, TermBuilder& terms) {
  if (args.size() != 2 || args[0] != args[1]) return nullptr;
  const DataType dtype = args[0]->dtype;
  const bool is_finite = dtype.is_integer() || (terms.laws().reals && terms.laws().finite);
  switch (op) {
    case op::kLess:
    case op::kGreater: return terms.Number(DataType::Bool(), int64_t{0});
    case op::kNotEqual: return is_finite ? terms.Number(DataType::Bool(), int64_t{0}) : nullptr;
    case op::kEqual:
    case op::kLessEqual:
    case op::kGreaterEqual: return is_finite ? terms.Number(DataType::Bool(), int64_t{1}) : nullptr;
    default: return nullptr;
  }
}

const Term* FiniteLaws(OpId op, const std::vector<const Term*>& args, DataType dtype, TermBuilder& terms) {
  const auto inverse_of = [&](const Term* x) {
    return terms.Apply(op::kDivide, nullptr, {terms.Number(dtype, 1.0), x}, dtype);
  };
  if (op == op::kDivide && args[0] == terms.Number(dtype, 1.0)) {
    const Term* x = args[1];
    if (IsApply(x, op::kDivide) && x->args[0] == args[0]) return x->args[1];
    if (!IsApply(x, op::kMultiply)) return nullptr;
    std::vector<const Term*> inverses;
    for (const Term* factor : x->args) inverses.push_back(inverse_of(factor));
    return terms.Apply(op::kMultiply, nullptr, std::move(inverses), dtype);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  if ((op == op::kMaximum || op == op::kMinimum) && args.size() == 2) {
    for (const bool is_first : {true, false}) {
      if (terms.ValueOf(args[is_first ? 0 : 1]) == (op == op::kMaximum ? -infinity : infinity))
        return args[is_first ? 1 : 0];
    }
  }
  if (op != op::kMultiply) return nullptr;
  std::vector<const Term*> exponents;
  std::vector<const Term*> others;
  for (const Term* arg : args) {
    const bool is_power = IsApply(arg, op::kExp) && arg->dtype == dtype;
    (is_power ? exponents : others).push_back(is_power ? arg->args[0] : arg);
  }
  if (exponents.size() < 2) return nullptr;
  const Term* sum = terms.Apply(op::kAdd, nullptr, std::move(exponents), dtype);
  others.push_back(terms.Apply(op::kExp, nullptr, {sum}, dtype));
  return others.size() == 1 ? others[0] : terms.Apply(op::kMultiply, nullptr, std::move(others), dtype);
}

const Term* HoistSelect(OpId op, const std::vector<const Term*>& args, DataType dtype, TermBuilder& terms) {
  if (op != op::kMultiply || args.size() != 2) return nullptr;
  for (size_t i = 0; i < 2; ++i) {
    const Term* select = args[i];
    // Zero times infinity is not zero.
    const auto factor = terms.ValueOf(args[1 - i]);
    if (dtype.is_floating() && !terms.laws().finite && !(factor && std::isfinite(*factor))) continue;
    if (select->kind != TermKind::kSelect || terms.ValueOf(select->args[1]) != 0.0) continue;
    return terms.Select(select->indices[0], terms.Apply(op, nullptr, {select->args[0], args[1 - i]}, dtype),
                        select->args[1]);
  }
  return nullptr;
}

}  // namespace

const Term* TermBuilder::FloatLaws(OpId op, const std::vector<const Term*>& args, DataType dtype) {
  if (args.size() == 2 && args[0]->dtype == dtype && args[1]->dtype == dtype) {
    const Term* a = args[0];
    const Term* b = args[1];
    if (op == op::kMultiply && IsNumber(b, 1)) return a;
    if (op == op::kMultiply && IsNumber(a, 1)) return b;
    if (op == op::kDivide && IsNumber(b, 1)) return a;
    if (op == op::kSubtract && IsNumber(b, 0)) return a;
    if (op == op::kAdd && IsNumber(b, -0.0)) return a;
    if (op == op::kAdd && IsNumber(a, -0.0)) return b;
    if ((op == op::kMaximum || op == op::kMinimum) && a == b) return a;
  }
  if (args.size() != 1) return nullptr;
  if (op == op::kNegative && IsApply(args[0], op::kNegative)) return args[0]->args[0];
  if (op == op::kAbs && IsApply(args[0], op::kNegative)) return Apply(op, nullptr, args[0]->args, dtype);
  return nullptr;
}

const Term* TermBuilder::ApplyLaws(OpId op, const std::vector<const Term*>& args, DataType dtype) {
  if (args.empty()) return nullptr;
  if (op == op::kAstype) return CastLaws(args[0], dtype, *this);
  if (args.size() == 1 && IsIdempotent(op) && IsApply(args[0], op) && args[0]->dtype == dtype) return args[0];
  const bool is_integer = IsNumeric(dtype);
  if (const Term* index = IndexLaws(op, args, dtype, *this)) return index;
  if (const Term* compared = CompareLaws(op, args, *this)) return compared;
  // The remainder of a remainder, and quotients by 1.
  const bool is_remainder = is_integer && (op == op::kMod || op == op::kFloorMod) && args.size() == 2;
  if (is_remainder && IsApply(args[0], op) && args[0]->args[1] == args[1]) return args[0];
  const bool is_quotient = is_integer && (op == op::kDivide || op == op::kFloorDivide) && args.size() == 2;
  if (is_quotient && args[0]->dtype == dtype && ValueOf(args[1]) == 1.0) return args[0];
  const bool is_square = op == op::kMultiply && args.size() == 2 && args[0] == args[1];
  if (is_square && IsApply(args[0], op::kAbs)) return Apply(op, nullptr, {args[0]->args[0], args[0]->args[0]}, dtype);
  if (is_integer && args.size() == 1 && (op == op::kCeil || op == op::kFloor || op == op::kRound || op == op::kTrunc))
    return args[0];
  if (dtype.is_floating()) {
    if (const Term* simple = FloatLaws(op, args, dtype)) return simple;
  }
  if (laws_.finite && laws_.reals && dtype.is_floating()) {
    if (const Term* simple = FiniteLaws(op, args, dtype, *this)) return simple;
  }
  if (laws_.AreRing(dtype)) {
    if (const Term* hoisted = HoistSelect(op, args, dtype, *this)) return hoisted;
    if (const Term* sum = RingLaws(op, args, dtype, *this)) return sum;
  }
  if (laws_.reals && dtype.is_floating()) {
    const Term* one = Number(dtype, 1.0);
    if (op == op::kRsqrt && one)
      return Apply(op::kDivide, nullptr, {one, Apply(op::kSqrt, nullptr, args, dtype)}, dtype);
    if (op == op::kDivide && one && args[0] != one)
      return Apply(op::kMultiply, nullptr, {args[0], Apply(op::kDivide, nullptr, {one, args[1]}, dtype)}, dtype);
  }
  // The order of operands that may be in either one.
  if (args.size() == 2 && Commutes(op, args[0]->dtype, laws_)) {
    const Term* a = args[0];
    const Term* b = args[1];
    const bool swaps = a->skeleton != b->skeleton ? b->skeleton < a->skeleton : b->id < a->id;
    if (swaps) return Keep({.kind = TermKind::kApply, .dtype = dtype, .op = op, .args = {b, a}});
  }
  return nullptr;
}

const Term* TermBuilder::OfOneElement(OpId op, const Term* body) {
  const bool is_sum = op == op::kSum || op == op::kMean;
  if (!is_sum || !body->dtype.is_floating() || laws_.reals) return body;
  return Apply(op::kAdd, nullptr, {Number(body->dtype, 0.0), body}, body->dtype);
}

bool Laws::IsOrdered(OpId op, DataType dtype) const {
  const bool is_sum = op == op::kSum || op == op::kMean || op == op::kProd;
  return !is_sum && dtype.is_floating() && !reals;
}

const Term* TermBuilder::RearrangeReduction(OpId op, const Dims& reduced, const Term* body) {
  if (laws_.IsOrdered(op, body->dtype)) return SplitVariable(op, reduced, body, true, *this);
  if (const Term* merged = MergeReductions(op, reduced, body, *this)) return merged;
  const Term* of_multiples = op == op::kSum ? SumOfMultiples(reduced, body, *this) : nullptr;
  if (of_multiples) return of_multiples;
  if (const Term* split = SplitVariable(op, reduced, body, false, *this)) return split;
  return SplitRange(op, reduced, body, *this);
}

}  // namespace iropt::proof
