#include "index_ranges.h"

#include <algorithm>
#include <span>

#include "iropt/ir/element.h"
#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/support/stack.h"
#include "symbolic_bounds.h"

namespace iropt::codegen {

namespace {

// The maximum number of nodes that one query visits, because there is a query for each node of an expression.
constexpr int kBudget = 48;
// The newest facts that each of these nodes is compared with.
constexpr size_t kMostFacts = 64;

__extension__ using Wide = __int128;

IntRange Fitting(Wide min, Wide max, DataType dtype, bool* fits = nullptr) {
  const IntRange all = IntRange::Of(dtype);
  const bool unknown = dtype.is_uint() && dtype.bits == 64 && min < 0;
  const bool inside = min >= all.min && max <= all.max && !unknown;
  if (fits) *fits = inside;
  return inside ? IntRange{static_cast<int64_t>(min), static_cast<int64_t>(max)} : all;
}

bool IsStableWithin(const PrimExpr* expr, int& budget) {
  if (--budget <= 0) return false;
  if (const auto* cast = As<tir::Cast>(expr)) return IsStableWithin(cast->value, budget);
  if (!tir::BinaryExpr::ClassOf(expr->kind)) return Is<tir::Var>(expr) || Is<tir::IntImm>(expr);
  const auto* binary = static_cast<const tir::BinaryExpr*>(expr);
  return IsStableWithin(binary->a, budget) && IsStableWithin(binary->b, budget);
}

}  // namespace

IntRange IntRange::Of(DataType dtype) {
  if (!dtype.is_integer() || dtype.bits >= 64) return {};
  if (dtype.is_uint()) return {0, static_cast<int64_t>((uint64_t{1} << dtype.bits) - 1)};
  const int64_t half = int64_t{1} << (dtype.bits - 1);
  return {-half, half - 1};
}

bool IndexRanges::IsStable(const PrimExpr* expr) {
  int budget = kBudget;
  return IsStableWithin(expr, budget);
}

IntRange IndexRanges::Of(const PrimExpr* expr) const {
  int budget = kBudget;
  return Within(expr, budget);
}

bool IndexRanges::Fits(const tir::BinaryExpr& expr) const {
  int budget = kBudget;
  bool fits = false;
  OfSum(expr, budget, &fits);
  return fits;
}

bool IndexRanges::IsInBounds(const PrimExpr* index, const PrimExpr* extent) const {
  const IntRange range = Of(index);
  if (range.min >= 0 && range.max < Of(extent).min) return true;
  const auto* var = As<tir::Var>(index);
  const auto* it = var ? vars_.Find(var) : nullptr;
  if (it && it->end && range.min >= 0 && (it->end == extent || StructuralEqual(it->end, extent))) return true;
  return !Is<tir::IntImm>(extent) && SymbolicBounds(*this).IsInBounds(index, extent);
}

void IndexRanges::Bind(const tir::Var* var, IntRange range, const PrimExpr* end) {
  vars_[var] = {.range = range, .end = end && IsStable(end) ? end : nullptr, .order = ++num_bindings_};
}

void IndexRanges::BindSize(const tir::Var* var, IntRange range) { vars_[var] = {.range = range.Intersect(Of(var))}; }

void IndexRanges::BindValue(const tir::Var* var, const PrimExpr* value) {
  Known known{.range = Of(value).Intersect(IntRange::Of(var->dtype)),
              .value = IsStable(value) ? value : nullptr,
              .order = ++num_bindings_};
  const auto* source = As<tir::Var>(value);
  if (const auto* it = source ? vars_.Find(source) : nullptr) known.end = it->end;
  vars_[var] = known;
}

// ---- Ranges of expressions

IntRange IndexRanges::Within(const PrimExpr* expr, int& budget) const {
  if (--budget <= 0 || !expr->dtype.is_integer()) return IntRange::Of(expr->dtype);
  IntRange range = WithStack([&] { return OfNode(expr, budget); });
  for (const Fact& fact : std::span(facts_).last(std::min(facts_.size(), kMostFacts))) {
    if (fact.expr == expr || (fact.expr->kind == expr->kind && StructuralEqual(fact.expr, expr)))
      range = range.Intersect(fact.range);
  }
  // Code whose facts contradict each other never runs. A divisor must not get the range from 1 to 0.
  return range.min <= range.max ? range : IntRange::Of(expr->dtype);
}

IntRange IndexRanges::OfNode(const PrimExpr* expr, int& budget) const {
  const IntRange all = IntRange::Of(expr->dtype);
  switch (expr->kind) {
    case NodeKind::kIntImm: {
      const int64_t value = To<tir::IntImm>(expr)->value;
      return {value, value};
    }
    case NodeKind::kPrimVar:
    case NodeKind::kSizeVar: {
      const auto* it = vars_.Find(static_cast<const tir::Var*>(expr));
      return it ? it->range : all;
    }
    case NodeKind::kCast: {
      const PrimExpr* value = To<tir::Cast>(expr)->value;
      if (!value->dtype.is_integer() || expr->dtype.is_bool()) return all;
      const IntRange range = Within(value, budget);
      return range.IsWithin(all) && (range.min >= 0 || expr->dtype.is_int()) ? range : all;
    }
    case NodeKind::kBroadcast: return Within(To<tir::Broadcast>(expr)->value, budget);
    case NodeKind::kRamp: {
      const auto* ramp = To<tir::Ramp>(expr);
      const IntRange base = Within(ramp->base, budget);
      const IntRange stride = Within(ramp->stride, budget);
      const Wide last = expr->dtype.lanes - 1;
      return Fitting(base.min + std::min<Wide>(0, last * stride.min), base.max + std::max<Wide>(0, last * stride.max),
                     expr->dtype);
    }
    case NodeKind::kSelect: {
      const auto* select = To<tir::Select>(expr);
      return Within(select->true_value, budget).Union(Within(select->false_value, budget));
    }
    case NodeKind::kPrimCall: return OfCall(*To<tir::Call>(expr), budget);
    default:
      return tir::BinaryExpr::ClassOf(expr->kind) ? OfBinary(*static_cast<const tir::BinaryExpr*>(expr), budget) : all;
  }
}

IntRange IndexRanges::OfSum(const tir::BinaryExpr& expr, int& budget, bool* fits) const {
  *fits = false;
  if (expr.dtype.is_uint() && expr.dtype.bits == 64) return {};
  const IntRange a = Within(expr.a, budget);
  const IntRange b = Within(expr.b, budget);
  switch (expr.kind) {
    case NodeKind::kAdd: return Fitting(Wide{a.min} + b.min, Wide{a.max} + b.max, expr.dtype, fits);
    case NodeKind::kSub: return Fitting(Wide{a.min} - b.max, Wide{a.max} - b.min, expr.dtype, fits);
    case NodeKind::kMul: {
      const Wide corners[] = {Wide{a.min} * b.min, Wide{a.min} * b.max, Wide{a.max} * b.min, Wide{a.max} * b.max};
      return Fitting(std::ranges::min(corners), std::ranges::max(corners), expr.dtype, fits);
    }
    default: return IntRange::Of(expr.dtype);
  }
}

IntRange IndexRanges::OfBinary(const tir::BinaryExpr& expr, int& budget) const {
  const IntRange all = IntRange::Of(expr.dtype);
  if (expr.dtype.is_uint() && expr.dtype.bits == 64) return all;
  bool fits = false;
  switch (expr.kind) {
    case NodeKind::kAdd:
    case NodeKind::kSub:
    case NodeKind::kMul: return OfSum(expr, budget, &fits);
    case NodeKind::kMin: {
      const IntRange a = Within(expr.a, budget);
      const IntRange b = Within(expr.b, budget);
      return {std::min(a.min, b.min), std::min(a.max, b.max)};
    }
    case NodeKind::kMax: {
      const IntRange a = Within(expr.a, budget);
      const IntRange b = Within(expr.b, budget);
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
    }
    case NodeKind::kDiv:
    case NodeKind::kFloorDiv: {
      const IntRange a = Within(expr.a, budget);
      const IntRange b = Within(expr.b, budget);
      if (b.min < 1) return all;
      if (expr.kind == NodeKind::kFloorDiv)
        return {std::min(FloorDiv(a.min, b.min), FloorDiv(a.min, b.max)),
                std::max(FloorDiv(a.max, b.min), FloorDiv(a.max, b.max))};
      return a.min < 0 ? all : IntRange{a.min / b.max, a.max / b.min};
    }
    case NodeKind::kMod:
    case NodeKind::kFloorMod: {
      const IntRange a = Within(expr.a, budget);
      const IntRange b = Within(expr.b, budget);
      if (b.max < 0 && b.min > INT64_MIN && expr.kind == NodeKind::kFloorMod) return {b.min + 1, 0};
      if (b.min < 1 || (expr.kind == NodeKind::kMod && a.min < 0)) return all;
      if (a.min >= 0 && a.max < b.min) return a;
      return {0, b.max - 1};
    }
    default: return all;
  }
}

IntRange IndexRanges::OfCall(const tir::Call& call, int& budget) const {
  const auto* op = As<Op>(call.op);
  const IntRange all = IntRange::Of(call.dtype);
  if (!op) return all;
  switch (op->id) {
    case op::kTirLikely:
    case op::kTirTvmThreadInvariant: return call.args.size() == 1 ? Within(call.args[0], budget) : all;
    case op::kTirIfThenElse:
      return call.args.size() == 3 ? Within(call.args[1], budget).Union(Within(call.args[2], budget)) : all;
    case op::kTirBitwiseAnd: {
      if (call.args.size() != 2) return all;
      const IntRange mask = Within(call.args[1], budget);
      return mask.min >= 0 ? IntRange{0, mask.max} : all;
    }
    case op::kTirShiftRight: {
      if (call.args.size() != 2) return all;
      const IntRange value = Within(call.args[0], budget);
      const IntRange by = Within(call.args[1], budget);
      if (value.min < 0 || by.min < 0 || by.max > 63) return all;
      return {value.min >> by.max, value.max >> by.min};
    }
    default: return all;
  }
}

// ---- Facts from conditions

IndexRanges::Assumption::Assumption(IndexRanges& ranges, const PrimExpr* condition, bool holds)
    : ranges_(ranges), facts_(ranges.facts_.size()), orders_(ranges.orders_.size()) {
  ranges.Assume(condition, holds);
}

IndexRanges::Assumption::Assumption(IndexRanges& ranges, LoopExtent loop)
    : ranges_(ranges), facts_(ranges.facts_.size()), orders_(ranges.orders_.size()) {
  int budget = kBudget;
  ranges.AssumeAtLeast(loop.extent, 1, budget);
}

// Also of what the expression is computed from.
void IndexRanges::AssumeAtLeast(const PrimExpr* expr, int64_t least, int& budget) {
  if (--budget < 0) return;
  const IntRange range = Of(expr);
  if (!expr->dtype.is_int() || expr->dtype.lanes != 1 || range.min >= least) return;
  AddFact(expr, {least, range.max});
  if (const auto* cast = As<tir::Cast>(expr)) {
    if (cast->value->dtype.is_int() && Of(cast->value).IsWithin(IntRange::Of(expr->dtype)))
      AssumeAtLeast(cast->value, least, budget);
    return;
  }
  if (!tir::BinaryExpr::ClassOf(expr->kind)) return;
  const auto& binary = *static_cast<const tir::BinaryExpr*>(expr);
  const auto* number = As<tir::IntImm>(binary.b);
  int64_t bound = 0;
  switch (expr->kind) {
    case NodeKind::kMin:
      AssumeAtLeast(binary.a, least, budget);
      AssumeAtLeast(binary.b, least, budget);
      break;
    case NodeKind::kMul:
      if (least != 1 || !Fits(binary) || Of(binary.a).min < 0 || Of(binary.b).min < 0) break;
      AssumeAtLeast(binary.a, 1, budget);
      AssumeAtLeast(binary.b, 1, budget);
      break;
    case NodeKind::kAdd:
      if (number && Fits(binary) && !__builtin_sub_overflow(least, number->value, &bound))
        AssumeAtLeast(binary.a, bound, budget);
      break;
    case NodeKind::kFloorDiv:
      if (number && number->value > 0 && !__builtin_mul_overflow(least, number->value, &bound))
        AssumeAtLeast(binary.a, bound, budget);
      break;
    default: break;
  }
}

void IndexRanges::AddOrder(const PrimExpr* less, const PrimExpr* greater, bool is_strict) {
  if (IsStable(less) && IsStable(greater)) orders_.push_back({less, greater, is_strict});
}

void IndexRanges::AddFact(const PrimExpr* expr, IntRange range) {
  if (!Is<tir::IntImm>(expr) && IsStable(expr)) facts_.push_back({expr, range});
}

void IndexRanges::Assume(const PrimExpr* condition, bool holds) {
  if (condition->dtype.lanes != 1) return;
  if (const tir::Call* likely = CallOf(condition, op::kTirLikely); likely && likely->args.size() == 1)
    return Assume(likely->args[0], holds);
  if (const auto* negation = As<tir::Not>(condition)) return Assume(negation->a, !holds);
  const bool joined = condition->kind == NodeKind::kAnd || condition->kind == NodeKind::kOr;
  if (joined && (condition->kind == NodeKind::kAnd) == holds) {
    const auto* both = static_cast<const tir::BinaryExpr*>(condition);
    WithStack([&] { Assume(both->a, holds); });
    WithStack([&] { Assume(both->b, holds); });
  } else if (tir::BinaryExpr::ClassOf(condition->kind) && !joined) {
    AssumeComparison(*static_cast<const tir::BinaryExpr*>(condition), holds);
  }
}

void IndexRanges::AssumeComparison(const tir::BinaryExpr& comparison, bool holds) {
  const bool is_signed = comparison.a->dtype.is_int() && comparison.b->dtype.is_int();
  const auto is_small = [](DataType dtype) { return dtype.is_uint() && dtype.bits < 64; };
  if (!is_signed && !(is_small(comparison.a->dtype) && is_small(comparison.b->dtype))) return;
  NodeKind kind = comparison.kind;
  if (!holds) {
    switch (kind) {
      case NodeKind::kLT: kind = NodeKind::kGE; break;
      case NodeKind::kLE: kind = NodeKind::kGT; break;
      case NodeKind::kGT: kind = NodeKind::kLE; break;
      case NodeKind::kGE: kind = NodeKind::kLT; break;
      case NodeKind::kNE: kind = NodeKind::kEQ; break;
      default: return;
    }
  }
  const IntRange a = Of(comparison.a);
  const IntRange b = Of(comparison.b);
  const auto below = [](int64_t v) { return v == INT64_MIN ? v : v - 1; };
  const auto above = [](int64_t v) { return v == INT64_MAX ? v : v + 1; };
  switch (kind) {
    case NodeKind::kLT:
      AddOrder(comparison.a, comparison.b, true);
      AddFact(comparison.a, {a.min, below(b.max)});
      AddFact(comparison.b, {above(a.min), b.max});
      break;
    case NodeKind::kLE:
      AddOrder(comparison.a, comparison.b, false);
      AddFact(comparison.a, {a.min, b.max});
      AddFact(comparison.b, {a.min, b.max});
      break;
    case NodeKind::kGT:
      AddOrder(comparison.b, comparison.a, true);
      AddFact(comparison.a, {above(b.min), a.max});
      AddFact(comparison.b, {b.min, below(a.max)});
      break;
    case NodeKind::kGE:
      AddOrder(comparison.b, comparison.a, false);
      AddFact(comparison.a, {b.min, a.max});
      AddFact(comparison.b, {b.min, a.max});
      break;
    case NodeKind::kEQ:
      AddFact(comparison.a, b);
      AddFact(comparison.b, a);
      break;
    default: break;
  }
}

}  // namespace iropt::codegen
