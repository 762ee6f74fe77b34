#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "and_of_ors.h"
#include "iropt/arith/const_fold.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/support/debug_output.h"
#include "iropt/support/stack.h"
#include "map_operands.h"
#include "polynomial.h"
#include "simple_sum.h"
#include "simplifier.h"
#include "vector_quotients.h"

namespace iropt::arith {
namespace {

constexpr DebugChannel kRuleDebug("simplify");

bool IsVectorOfIndex(DataType t) { return !t.is_scalar() && IsIndexType(t.with_lanes(1)); }

// Returns whether the truth value depends on an order. A NaN is neither less than another number nor not less than it.
bool HasOrder(const PrimExpr* e) {
  if (const auto* negation = As<tir::Not>(e)) return HasOrder(negation->a);
  const auto* binary = As<tir::BinaryExpr>(e);
  const bool both = binary && (e->kind == NodeKind::kAnd || e->kind == NodeKind::kOr);
  return both ? HasOrder(binary->a) || HasOrder(binary->b) : e->kind >= NodeKind::kLT && e->kind <= NodeKind::kGE;
}

bool IsIfThenElse(const tir::Call* call) { return IsOp(call->op, op::kTirIfThenElse); }

// A constant offset and the rest: x + 3, x - 3.
std::pair<const PrimExpr*, int64_t> SplitOffset(const PrimExpr* e, const PrimBuilder& make) {
  const auto* binary = As<tir::BinaryExpr>(e);
  if (!binary) return {e, 0};
  const int64_t* a = AsInt(binary->a);
  const int64_t* b = AsInt(binary->b);
  if (e->kind == NodeKind::kAdd && b) return {binary->a, *b};
  if (e->kind == NodeKind::kAdd && a) return {binary->b, *a};
  if (e->kind == NodeKind::kSub && b && *b != std::numeric_limits<int64_t>::min()) return {binary->a, -*b};
  if (e->kind == NodeKind::kSub && a) return {make.Sub(make.Const(0, e->dtype), binary->b), *a};
  return {e, 0};
}

}  // namespace

const PrimExpr* RuleSimplifier::Visit(const PrimExpr* e) {
  if (IsSimpleSum(e, analyzer_)) return e;
  return Remember(0, e, [&] { return VisitByRules(e); });
}

const PrimExpr* RuleSimplifier::VisitByRules(const PrimExpr* e) {
  if (IsStackLow()) [[unlikely]]
    return OnFreshStack([&] { return VisitByRules(e); });
  if (e->kind == NodeKind::kLet) return VisitLet(static_cast<const tir::Let*>(e));
  const bool is_junction = e->kind == NodeKind::kAnd || e->kind == NodeKind::kOr;
  if (is_junction && e->dtype.is_scalar() && analyzer_.extensions().and_of_ors) return SimplifyAsAndOfOrs(e, analyzer_);
  return Rewrite(VisitOperands(e));
}

const PrimExpr* RuleSimplifier::VisitOperands(const PrimExpr* e) {
  if (e->kind == NodeKind::kSelect) return VisitBranches(e);
  if (e->kind == NodeKind::kPrimCall && IsIfThenElse(static_cast<const tir::Call*>(e))) return VisitBranches(e);
  const bool is_junction = e->kind == NodeKind::kAnd || e->kind == NodeKind::kOr;
  if (is_junction && analyzer_.extensions().constrain_branches)
    return VisitJunction(static_cast<const tir::BinaryExpr*>(e));
  // A reduction binds its axes over the operands; these are simplified when it is lowered.
  auto visit = [this](const PrimExpr* operand) { return Visit(operand); };
  return MapOperands(e, visit, make_);
}

// Each branch is simplified under the condition or its negation.
const PrimExpr* RuleSimplifier::VisitBranches(const PrimExpr* e) {
  const auto* select = As<tir::Select>(e);
  const auto* call = As<tir::Call>(e);
  const PrimExpr* old[3] = {select ? select->condition : call->args[0], select ? select->true_value : call->args[1],
                            select ? select->false_value : call->args[2]};
  const PrimExpr* cond = Visit(old[0]);
  if (const int64_t* value = AsInt(cond)) return Visit(*value ? old[1] : old[2]);
  const PrimExpr* on_true;
  const PrimExpr* on_false;
  {
    Analyzer::Constraint scope(analyzer_, cond, /*within_expression=*/true);
    on_true = Visit(old[1]);
  }
  {
    Analyzer::Constraint scope(analyzer_, Rewrite(make_.Not(cond)), /*within_expression=*/true);
    on_false = Visit(old[2]);
  }
  if (cond == old[0] && on_true == old[1] && on_false == old[2]) return e;
  if (select) return make_.Keep(tir::Select(cond, on_true, on_false));
  const PrimExpr* args[3] = {cond, on_true, on_false};
  return make_.Keep(tir::Call(call->dtype, call->op, make_.Operands(args)));
}

// Bindings of constants and variables are inlined; others could make the expression grow.
const PrimExpr* RuleSimplifier::VisitLet(const tir::Let* let) {
  const PrimExpr* value = Visit(let->value);
  const bool trivial =
      value->kind == NodeKind::kIntImm || value->kind == NodeKind::kFloatImm || tir::Var::ClassOf(value->kind);
  if (trivial) {
    analyzer_.Bind(let->var, value);
    const PrimExpr* body = Visit(let->body);
    analyzer_.Unbind(let->var);
    return body;
  }
  const PrimExpr* body = Visit(let->body);
  return value == let->value && body == let->body ? let : make_.Keep(tir::Let(let->var, value, body));
}

const PrimExpr* RuleSimplifier::Again(const PrimExpr* e) {
  if (again_depth_ >= kMaxAgain) return e;
  ++again_depth_;
  const PrimExpr* result = Visit(e);
  --again_depth_;
  return result;
}

const PrimExpr* RuleSimplifier::Rewrite(const PrimExpr* e) {
  switch (e->kind) {
    case NodeKind::kPrimVar:
    case NodeKind::kSizeVar: {
      const PrimExpr* value = analyzer_.ValueOf(static_cast<const tir::Var*>(e));
      if (value) return value;
      if (!e->dtype.is_bool()) return e;
      const int known = analyzer_.MatchConstraint(e);
      return known < 0 ? e : make_.Const(known, e->dtype);
    }
    case NodeKind::kCast: {
      const PrimExpr* value = static_cast<const tir::Cast*>(e)->value;
      const bool folds = AsInt(value) || value->kind == NodeKind::kFloatImm || value->dtype == e->dtype;
      return folds ? make_.Cast(e->dtype, value) : e;
    }
    case NodeKind::kNot: {
      const PrimExpr* a = static_cast<const tir::Not*>(e)->a;
      if (const int64_t* value = AsInt(a)) return make_.Bool(*value == 0);
      const int known = analyzer_.MatchConstraint(e);
      if (known >= 0) return make_.Const(known, e->dtype);
      return IsBigCondition(a) ? e : ApplyRules(e);
    }
    case NodeKind::kSelect: return ApplyRules(e);
    case NodeKind::kPrimCall: return RewriteCall(static_cast<const tir::Call*>(e));
    default: return tir::BinaryExpr::ClassOf(e->kind) ? RewriteBinary(static_cast<const tir::BinaryExpr*>(e)) : e;
  }
}

const PrimExpr* RuleSimplifier::RewriteBinary(const tir::BinaryExpr* e) {
  // Orders are expressed by "less than".
  if (e->kind == NodeKind::kGT) return Rewrite(make_.Node(NodeKind::kLT, e->b, e->a));
  if (e->kind == NodeKind::kGE) return Rewrite(make_.Node(NodeKind::kLE, e->b, e->a));
  if (const PrimExpr* folded = TryFold(e->kind, e->a, e->b, make_)) return folded;
  if (e->kind >= NodeKind::kEQ) {
    const int known = analyzer_.MatchConstraint(e);
    if (known >= 0) return make_.Const(known, e->dtype);
  }
  switch (e->kind) {
    case NodeKind::kAdd: return IsIndexType(e->dtype) ? ApplyRules(e) : RewriteOtherSum(e);
    case NodeKind::kSub:
      return e->dtype.is_floating() || IsIndexType(e->dtype) ? ApplyRules(e) : RewriteOtherDifference(e);
    case NodeKind::kDiv: return RewriteDiv(e);
    case NodeKind::kFloorDiv: return RewriteFloorDiv(e);
    case NodeKind::kFloorMod: return RewriteFloorMod(e);
    case NodeKind::kMod: return RewriteTruncMod(e);
    case NodeKind::kMin:
    case NodeKind::kMax: return RewriteMinMax(e);
    case NodeKind::kEQ: return RewriteEqual(e);
    case NodeKind::kNE: return RewriteNotEqual(e);
    case NodeKind::kLT: return RewriteLess(e);
    case NodeKind::kLE: return RewriteLessEqual(e);
    case NodeKind::kAnd:
    case NodeKind::kOr: return e->b->kind == e->kind && IsBigCondition(e->b) ? e : ApplyRules(e);
    default: return ApplyRules(e);
  }
}

bool RuleSimplifier::Holds(const RewriteRule& rule, uint16_t index, const RuleMatch& match, DataType dtype) {
  const RuleTerm& term = rule.terms[index];
  if (term.constant) {
    const auto value = EvalTerm(rule, index, match);
    return value && *value != 0;
  }
  if (term.kind == NodeKind::kAnd)
    return Holds(rule, term.child[0], match, dtype) && Holds(rule, term.child[1], match, dtype);
  if (term.kind == NodeKind::kOr)
    return Holds(rule, term.child[0], match, dtype) || Holds(rule, term.child[1], match, dtype);
  const PrimExpr* a = BuildTerm(rule, term.child[0], match, dtype, make_);
  if (!a) return false;
  if (term.kind == NodeKind::kEQ) {
    const PrimExpr* b = BuildTerm(rule, term.child[1], match, dtype, make_);
    // Simplifying a remainder asks for the remainders within it: nested ones would take exponential time.
    const auto* remainder = As<tir::FloorMod>(a);
    if (remainder && b && IsInt(b, 0)) return Polynomial::IsMultiple(remainder->a, remainder->b);
    return b && analyzer_.CanProveEqual(a, b);
  }
  const auto bound = EvalTerm(rule, term.child[1], match);
  if (!bound) return false;
  IROPT_CHECK(term.kind == NodeKind::kGE || term.kind == NodeKind::kLT, "condition of the rewrite rule '{}'",
              rule.name);
  return term.kind == NodeKind::kGE ? analyzer_.CanProveGreaterEqual(a, *bound) : analyzer_.CanProveLess(a, *bound);
}

const PrimExpr* RuleSimplifier::ApplyRules(const PrimExpr* e) {
  const auto* binary = As<tir::BinaryExpr>(e);
  // Arithmetic and comparisons are those of integers; logic has operands of its own.
  const bool logic = !binary || e->kind == NodeKind::kAnd || e->kind == NodeKind::kOr;
  RuleOperands operands = RuleOperands::kIndices;
  if (!logic && !IsIndexType(binary->a->dtype))
    operands = IsVectorOfIndex(binary->a->dtype) ? RuleOperands::kVectors : RuleOperands::kOther;
  RuleCandidates candidates(e, operands);
  while (const RulePattern* candidate = candidates.Next()) {
    const RewriteRule& rule = *candidate->rule;
    if (!rule.versions.Has(make_.version())) continue;
    RuleMatch match;
    if (!MatchTerm(rule, candidate->root, e, match)) continue;
    DataType dtype = logic ? DataType::Int(32) : binary->a->dtype;
    bool has_floats = false;
    for (const PrimExpr* slot : match.slots) {
      if (logic && slot && IsIndexType(slot->dtype)) dtype = slot->dtype;
      has_floats |= logic && slot && slot->dtype.is_floating();
    }
    if (has_floats && HasOrder(e)) continue;
    if (rule.condition && !Holds(rule, *rule.condition, match, dtype)) continue;
    const PrimExpr* result = BuildTerm(rule, rule.result, match, dtype, make_);
    if (!result) continue;
    IROPT_DEBUG(kRuleDebug, "{}: {}", rule.name, rule.text);
    // A truth value stands for those of all lanes.
    if (result->dtype.is_scalar() && !e->dtype.is_scalar()) result = make_.Broadcast(result, make_.Lanes(e->dtype));
    return rule.mode == RuleMode::kAgain ? Again(result) : result;
  }
  return e;
}

// Zero in all lanes; a scalar zero is folded.
const PrimExpr* RuleSimplifier::RewriteOtherSum(const tir::BinaryExpr* e) {
  const auto* copies = As<tir::Broadcast>(e->b);
  const auto* value = copies ? As<tir::FloatImm>(copies->value) : nullptr;
  return value && value->value == 0 ? e->a : ApplyRules(e);
}

// Differences of other integers cancel. Those of floats do not: they round, and infinities have no difference.
const PrimExpr* RuleSimplifier::RewriteOtherDifference(const tir::BinaryExpr* e) {
  const auto repeatable = [](const PrimExpr* x) { return SideEffect(x) <= CallEffect::kReadState; };
  const auto cancels = [&](const PrimExpr* x, const PrimExpr* y) { return DeepEqual(x, y) && repeatable(x); };
  const auto negative = [&](const PrimExpr* x) { return make_.Sub(make_.Const(0, e->dtype), x); };
  if (cancels(e->a, e->b)) return make_.Const(0, e->dtype);
  if (const auto* sum = As<tir::Add>(e->a)) {
    if (cancels(sum->b, e->b)) return sum->a;
    if (cancels(sum->a, e->b)) return sum->b;
  }
  if (const auto* sum = As<tir::Add>(e->b)) {
    if (cancels(sum->b, e->a)) return negative(sum->a);
    if (cancels(sum->a, e->a)) return negative(sum->b);
  }
  return ApplyRules(e);
}

// x / 2.0 is x * 0.5, as in TVM before 0.22, which has it for all divisors: only reciprocals of powers of two are
// exact.
const PrimExpr* RuleSimplifier::RewriteDiv(const tir::BinaryExpr* e) {
  if (IsVectorOfIndex(e->dtype)) return RewriteVectorQuotient(e);
  const auto* divisor = As<tir::FloatImm>(e->b);
  if (!divisor || make_.version() >= TextVersion::kV0_22) return ApplyRules(e);
  int exponent = 0;
  const bool is_power_of_two = std::fabs(std::frexp(divisor->value, &exponent)) == 0.5;
  // The reciprocal is a normal number of the format.
  if (!is_power_of_two || std::abs(exponent) > (e->dtype.bits == 8 ? 6 : 14)) return ApplyRules(e);
  return make_.Mul(e->a, make_.Float(1.0 / divisor->value, e->dtype));
}

const PrimExpr* RuleSimplifier::RewriteVectorQuotient(const tir::BinaryExpr* e) {
  const PrimExpr* result = ApplyRules(e);
  const PrimExpr* quotient = result == e ? SimplifyVectorQuotient(e, analyzer_) : nullptr;
  return quotient ? quotient : result;
}

// (x * c1 + y) // c2 if the remainders of c1 and y always have the same sum.
const PrimExpr* RuleSimplifier::RewriteFloorDiv(const tir::BinaryExpr* e) {
  if (IsVectorOfIndex(e->dtype)) return RewriteVectorQuotient(e);
  const int64_t* c2 = AsInt(e->b);
  if (!IsIndexType(e->dtype) || !c2 || *c2 == 0) return ApplyRules(e);
  const auto* sum = As<tir::Add>(e->a);
  const auto is_scaled = [](const PrimExpr* p) {
    return p->kind == NodeKind::kMul && AsInt(static_cast<const tir::Mul*>(p)->b);
  };
  const bool is_first = sum && is_scaled(sum->a);
  const PrimExpr* product = !sum ? e->a : is_first ? sum->a : sum->b;
  const PrimExpr* rest = !sum ? nullptr : is_first ? sum->b : sum->a;
  if (!is_scaled(product)) return ApplyRules(e);
  const PrimExpr* x = static_cast<const tir::Mul*>(product)->a;
  const int64_t c1 = *AsInt(static_cast<const tir::Mul*>(product)->b);
  const std::optional<int64_t> scale = FoldIntegers(NodeKind::kFloorDiv, c1, *c2);
  if (!scale) return ApplyRules(e);  // the least integer by -1
  const PrimExpr* y = rest ? rest : make_.Const(0, e->dtype);
  const PrimExpr* y_mod = make_.FloorMod(y, e->b);
  const PrimExpr* residue =
      make_.FloorDiv(make_.Add(make_.Mul(x, make_.Const(FloorModInt(c1, *c2), e->dtype)), y_mod), e->b);
  const IntBound bound = analyzer_.Bound(residue);
  const auto y_div = [&] {
    const PrimExpr* div = make_.FloorDiv(y, e->b);
    return analyzer_.CanProveEqual(div, make_.Const(0, e->dtype)) ? make_.Const(0, e->dtype) : div;
  };
  if (FitsIn(*scale, e->dtype) && bound.is_const()) {
    return make_.Add(make_.Mul(x, make_.Const(*scale, e->dtype)), make_.Add(y_div(), make_.Const(bound.max, e->dtype)));
  }
  // With c2 == a * c1: y % c2 < c1 never carries into x // a.
  if (c1 > 0 && *c2 > 0 && *c2 % c1 == 0 && analyzer_.CanProveLess(y_mod, c1)) {
    return make_.Add(make_.FloorDiv(x, make_.Const(*c2 / c1, e->dtype)), y_div());
  }
  return ApplyRules(e);
}

const PrimExpr* RuleSimplifier::RewriteFloorMod(const tir::BinaryExpr* e) {
  if (IsVectorOfIndex(e->dtype)) return RewriteVectorQuotient(e);
  const PrimExpr* result = ApplyRules(e);
  const int64_t* c1 = AsInt(e->b);
  if (result != e || !IsIndexType(e->dtype) || !c1 || *c1 <= 0) return result;
  const ModularSet set = analyzer_.bounds().Modular(e->a);
  if (set.coeff % *c1 == 0) return make_.Const(FloorModInt(set.base, *c1), e->dtype);
  const IntBound bound = analyzer_.Bound(e->a);
  return bound.min >= 0 && bound.max < *c1 ? e->a : e;
}

const PrimExpr* RuleSimplifier::RewriteTruncMod(const tir::BinaryExpr* e) {
  if (IsVectorOfIndex(e->dtype)) return RewriteVectorQuotient(e);
  const PrimExpr* result = ApplyRules(e);
  const int64_t* c1 = AsInt(e->b);
  if (result != e || !IsIndexType(e->dtype) || !c1 || *c1 <= 0 || !analyzer_.CanProveGreaterEqual(e->a, 0))
    return result;
  const ModularSet set = analyzer_.bounds().Modular(e->a);
  return set.coeff % *c1 == 0 ? make_.Const(FloorModInt(set.base, *c1), e->dtype) : e;
}

// Of two sums with a constant difference, in whatever order their terms are; null for others.
const PrimExpr* RuleSimplifier::ChooseByDifference(const tir::BinaryExpr* e) {
  const auto is_sum = [](const PrimExpr* x) { return x->kind == NodeKind::kAdd || x->kind == NodeKind::kSub; };
  if (!is_sum(e->a) || !is_sum(e->b)) return nullptr;
  const std::optional<Polynomial> difference = Polynomial::Difference(e->a, e->b);
  const auto value = difference ? difference->AsConstant() : std::nullopt;
  if (!value) return nullptr;
  return (e->kind == NodeKind::kMin) == (*value <= 0) ? e->a : e->b;
}

const PrimExpr* RuleSimplifier::RewriteMinMax(const tir::BinaryExpr* e) {
  if (!IsIndexType(e->dtype)) return ApplyRules(e);
  if (const PrimExpr* chosen = ChooseByDifference(e)) return chosen;
  const IntBound a = analyzer_.Bound(e->a);
  const IntBound b = analyzer_.Bound(e->b);
  const bool is_min = e->kind == NodeKind::kMin;
  // An infinite end says nothing about the order of the two.
  if (a.max <= b.min && a.max != IntBound::kPosInf && b.min != IntBound::kNegInf) return is_min ? e->a : e->b;
  if (b.max <= a.min && b.max != IntBound::kPosInf && a.min != IntBound::kNegInf) return is_min ? e->b : e->a;
  return ApplyRules(e);
}

Order RuleSimplifier::CompareWith(const PrimExpr* e, int64_t value) {
  const PrimExpr* simple = Visit(e);
  if (const int64_t* v = AsInt(simple))
    return *v == value ? Order::kEqual : *v > value ? Order::kGreater : Order::kLess;
  const IntBound bound = analyzer_.Bound(simple);
  if (bound.is_const() && bound.min == value) return Order::kEqual;
  if (bound.min > value) return Order::kGreater;
  if (bound.max < value) return Order::kLess;
  if (bound.min >= value) return Order::kGreaterEqual;
  if (bound.max <= value) return Order::kLessEqual;
  const ModularSet set = analyzer_.bounds().Modular(simple);
  const bool excluded =
      set.coeff == 0 ? set.base != value : FloorModInt(set.base, set.coeff) != FloorModInt(value, set.coeff);
  return excluded ? Order::kNotEqual : Order::kUnknown;
}

Order RuleSimplifier::Compare(const PrimExpr* a, const PrimExpr* b) {
  if (a == b) return Order::kEqual;
  if (again_depth_ >= kMaxAgain) return Order::kUnknown;
  ++again_depth_;
  const Order order = CompareWith(make_.Sub(a, b), 0);
  --again_depth_;
  if (order == Order::kEqual || order == Order::kLess || order == Order::kGreater) return order;
  return order & analyzer_.CompareByFacts(a, b);
}

const PrimExpr* RuleSimplifier::RewriteEqual(const tir::BinaryExpr* e) {
  if (!IsIndexType(e->a->dtype)) {
    const bool same = e->dtype.is_scalar() && !e->a->dtype.is_floating() && DeepEqual(e->a, e->b) &&
                      SideEffect(e->a) <= CallEffect::kReadState;
    return same ? make_.Bool(true) : ApplyRules(e);
  }
  switch (Compare(e->a, e->b)) {
    case Order::kEqual: return make_.Bool(true);
    case Order::kNotEqual:
    case Order::kLess:
    case Order::kGreater: return make_.Bool(false);
    default: return ApplyRules(e);
  }
}

const PrimExpr* RuleSimplifier::RewriteNotEqual(const tir::BinaryExpr* e) {
  if (IsIndexType(e->a->dtype)) {
    switch (Compare(e->a, e->b)) {
      case Order::kEqual: return make_.Bool(false);
      case Order::kNotEqual:
      case Order::kLess:
      case Order::kGreater: return make_.Bool(true);
      case Order::kGreaterEqual: return ApplyRules(make_.Node(NodeKind::kLT, e->b, e->a));
      case Order::kLessEqual: return ApplyRules(make_.Node(NodeKind::kLT, e->a, e->b));
      case Order::kInconsistent:
      case Order::kUnknown: break;
    }
  }
  const auto* node = To<tir::BinaryExpr>(make_.Node(NodeKind::kEQ, e->a, e->b));
  const PrimExpr* equal = IsIndexType(e->a->dtype) ? ApplyRules(node) : RewriteEqual(node);
  const PrimExpr* negated = make_.Not(equal);
  return negated->kind == NodeKind::kNot ? ApplyRules(negated) : negated;
}

const PrimExpr* RuleSimplifier::RewriteLess(const tir::BinaryExpr* e) {
  if (!IsIndexType(e->a->dtype)) return ApplyRules(e);
  switch (Compare(e->a, e->b)) {
    case Order::kLess: return make_.Bool(true);
    case Order::kEqual:
    case Order::kGreater:
    case Order::kGreaterEqual: return make_.Bool(false);
    default: break;
  }
  const PrimExpr* result = ApplyRules(e);
  if (result != e) return result;
  if (const PrimExpr* merged = MergeOffsets(e)) return Again(merged);
  const ModularSet a = analyzer_.bounds().Modular(e->a);
  const ModularSet b = analyzer_.bounds().Modular(e->b);
  const int64_t common = ZeroAwareGcd(ZeroAwareGcd(a.base, a.coeff), ZeroAwareGcd(b.base, b.coeff));
  if (common <= 1 || !FitsIn(common, e->a->dtype)) return e;
  const PrimExpr* divisor = make_.Const(common, e->a->dtype);
  return Again(make_.Node(NodeKind::kLT, make_.FloorDiv(e->a, divisor), make_.FloorDiv(e->b, divisor)));
}

// x + 3 < y + 5 becomes x < y + 2; null if there is nothing to merge.
const PrimExpr* RuleSimplifier::MergeOffsets(const tir::BinaryExpr* less) {
  const auto [a, a_offset] = SplitOffset(less->a, make_);
  const auto [b, b_offset] = SplitOffset(less->b, make_);
  if (a_offset == 0 && b_offset == 0) return nullptr;
  const auto diff = CheckedSub(b_offset, a_offset);
  if (!diff || *diff == std::numeric_limits<int64_t>::min()) return nullptr;
  if (!FitsIn(*diff, a->dtype) || !FitsIn(-*diff, a->dtype)) return nullptr;
  if (*diff == 0) return make_.Binary(NodeKind::kLT, a, b);
  if (*diff == 1) return make_.Binary(NodeKind::kLE, a, b);
  if (*diff < 0 && b_offset != 0) return make_.Binary(NodeKind::kLT, make_.Add(a, make_.Const(-*diff, a->dtype)), b);
  if (*diff > 0 && a_offset != 0) return make_.Binary(NodeKind::kLT, a, make_.Add(b, make_.Const(*diff, b->dtype)));
  return nullptr;
}

const PrimExpr* RuleSimplifier::RewriteLessEqual(const tir::BinaryExpr* e) {
  if (e->a->dtype.is_floating()) return ApplyRules(e);
  const auto* less = static_cast<const tir::BinaryExpr*>(make_.Node(NodeKind::kLT, e->b, e->a));
  const PrimExpr* negated = make_.Not(RewriteLess(less));
  const PrimExpr* result = negated->kind == NodeKind::kNot ? ApplyRules(negated) : negated;
  const auto* le = As<tir::LE>(result);
  if (!le || !IsIndexType(le->a->dtype)) return result;
  switch (Compare(le->a, le->b)) {
    case Order::kEqual:
    case Order::kLess:
    case Order::kLessEqual: return make_.Bool(true);
    case Order::kGreater: return make_.Bool(false);
    case Order::kNotEqual:
      return RewriteLess(static_cast<const tir::BinaryExpr*>(make_.Node(NodeKind::kLT, le->a, le->b)));
    case Order::kGreaterEqual: return ApplyRules(make_.Node(NodeKind::kEQ, le->a, le->b));
    case Order::kInconsistent:
    case Order::kUnknown: return result;
  }
  IROPT_UNREACHABLE("orders are listed above");
}

const PrimExpr* RuleSimplifier::RewriteCall(const tir::Call* call) {
  const auto* op = As<Op>(call->op);
  if (!op || call->args.empty()) return call;
  const PrimExpr* arg = call->args[0];
  const int64_t* value = AsInt(arg);
  switch (op->id) {
    case op::kTirLikely: {
      if (value) return arg;
      const int known = analyzer_.MatchConstraint(arg);
      return known < 0 ? call : make_.Bool(known);
    }
    case op::kTirShiftRight:
    case op::kTirShiftLeft: {
      const int64_t* amount = AsInt(call->args[1]);
      if (!value || !amount || *amount < 0 || *amount >= std::min<int64_t>(call->dtype.bits, 63)) return call;
      if (op->id == op::kTirShiftRight) return make_.Const(*value >> *amount, call->dtype);
      const auto shifted = CheckedMul(*value, int64_t{1} << *amount);
      return shifted ? make_.Cast(call->dtype, make_.Int(*shifted)) : call;
    }
    case op::kTirCeil: {
      if (value) return make_.Cast(call->dtype, arg);
      if (const auto* real = As<tir::FloatImm>(arg)) return make_.Float(std::ceil(RoundedValue(*real)), call->dtype);
      // In bounds of loops. The result is the same however a target rounds the logarithm.
      const auto* log = CallOf(arg, op::kTirLog2);
      const auto* real = log ? As<tir::FloatImm>(log->args[0]) : nullptr;
      const double of_log = real ? RoundedValue(*real) : 0;
      return of_log > 0 ? make_.Float(std::ceil(std::log2(of_log)), call->dtype) : call;
    }
    case op::kTirClz: {
      if (!value) return call;
      const int bits = arg->dtype.bits;
      const auto digits = static_cast<uint64_t>(*value) & (~uint64_t{0} >> (64 - bits));
      return make_.Const(bits - static_cast<int>(std::bit_width(digits)), call->dtype);
    }
    case op::kTirIfThenElse: return RewriteIfThenElse(call);
    default: return call;
  }
}

// if_then_else(a, if_then_else(b, x, c), c) is if_then_else(a && b, x, c) for a constant c.
const PrimExpr* RuleSimplifier::RewriteIfThenElse(const tir::Call* call) {
  const auto* inner = CallOf(call->args[1], op::kTirIfThenElse);
  const auto is_constant = [](const PrimExpr* e) { return Is<tir::IntImm>(e) || Is<tir::FloatImm>(e); };
  if (!inner || !is_constant(call->args[2]) || !is_constant(inner->args[2])) return call;
  if (!DeepEqual(call->args[2], inner->args[2])) return call;
  const PrimExpr* args[3] = {make_.Node(NodeKind::kAnd, call->args[0], inner->args[0]), inner->args[1], call->args[2]};
  return make_.Keep(tir::Call(call->dtype, call->op, make_.Operands(args)));
}

}  // namespace iropt::arith
