#include "iropt/arith/int_set.h"

#include <algorithm>
#include <utility>

#include "iropt/ir/structural.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::arith {
namespace {

bool IsComparisonOrLogic(NodeKind kind) { return kind >= NodeKind::kEQ && kind <= NodeKind::kOr; }

// Ends that share parts grow with the number of paths to them: one that is larger is given up.
constexpr int kMostNodesOfEnd = 4096;

class NodeCounter : public tir::ExprVisitor {
 public:
  // Returns whether the expression, as a tree, has at most as many nodes as an end may have.
  static bool IsSmall(const PrimExpr* e) {
    NodeCounter counter;
    counter.VisitExpr(e);
    return counter.left_ >= 0;
  }

 protected:
  void VisitExpr(const PrimExpr* e) override {
    if (--left_ >= 0) ExprVisitor::VisitExpr(e);
  }

 private:
  int left_ = kMostNodesOfEnd;
};

class SetEvaluator : public tir::ExprFunctor<IntervalSet(const PrimExpr*)> {
 public:
  SetEvaluator(const VarDomains& domains, Analyzer& analyzer)
      : domains_(domains), analyzer_(analyzer), make_(analyzer.make()) {}

  IntervalSet Eval(IntervalSet set) {
    return set.is_nothing() ? set : IntervalSet::Interval(LowerEnd(set.min()), UpperEnd(set.max()));
  }

 protected:
  IntervalSet VisitIntImm(const tir::IntImm* e) override { return IntervalSet::Point(e); }
  IntervalSet VisitVar(const tir::Var* var) override;
  IntervalSet VisitSizeVar(const tir::SizeVar* var) override { return VisitVar(var); }
  IntervalSet VisitRamp(const tir::Ramp* ramp) override;
  IntervalSet VisitBroadcast(const tir::Broadcast* e) override { return VisitExpr(e->value); }
  IntervalSet VisitCast(const tir::Cast* cast) override;
  IntervalSet VisitSelect(const tir::Select* e) override {
    return Union(VisitExpr(e->true_value), VisitExpr(e->false_value), analyzer_);
  }
  IntervalSet VisitBufferLoad(const tir::BufferLoad* load) override;
  IntervalSet VisitCall(const tir::Call* call) override {
    return IsOp(call->op, op::kTirVscale) ? IntervalSet::Point(call) : IntervalSet::Everything();
  }
  IntervalSet VisitDefault(const PrimExpr* e) override {
    return tir::BinaryExpr::ClassOf(e->kind) ? EvalBinary(To<tir::BinaryExpr>(e)) : IntervalSet::Everything();
  }

 private:
  const PrimExpr* LowerEnd(const PrimExpr* e) { return e ? VisitExpr(e).min() : nullptr; }
  const PrimExpr* UpperEnd(const PrimExpr* e) { return e ? VisitExpr(e).max() : nullptr; }

  static IntervalSet WithoutLargeEnds(IntervalSet set) {
    const auto small = [](const PrimExpr* end) { return end && NodeCounter::IsSmall(end) ? end : nullptr; };
    return set.is_nothing() ? set : IntervalSet::Interval(small(set.min()), small(set.max()));
  }

  bool Fits(IntervalSet set, DataType from, DataType to);
  IntervalSet EvalBinary(const tir::BinaryExpr* e);
  IntervalSet Combine(const tir::BinaryExpr* e, IntervalSet a, IntervalSet b);
  IntervalSet AddSets(IntervalSet a, IntervalSet b);
  IntervalSet SubtractSets(IntervalSet a, IntervalSet b);
  // a * factor, a / factor or a // factor: monotonic in a, in the direction of the sign of the factor.
  IntervalSet Scale(NodeKind kind, IntervalSet a, const PrimExpr* factor);
  IntervalSet Remainder(NodeKind kind, IntervalSet a, const PrimExpr* divisor);

  // An end that overflows does not count.
  const PrimExpr* Apply(NodeKind kind, const PrimExpr* a, const PrimExpr* b) {
    const PrimExpr* end = a && b ? make_.Binary(kind, a, b) : nullptr;
    return end && AsInt(a) && AsInt(b) && !AsInt(end) ? nullptr : end;
  }

  const VarDomains& domains_;
  Analyzer& analyzer_;
  const PrimBuilder& make_;
  // Of the variables so far. One that is being relaxed has its domain.
  VarDomains relaxed_;
};

IntervalSet SetEvaluator::VisitVar(const tir::Var* var) {
  const auto* it = domains_.Find(var);
  if (!it || (it->is_point() && it->min() == var)) return IntervalSet::Point(var);
  // The bounds of an inner loop may depend on outer ones. Domains that depend on each other are cut off.
  const auto [relaxed, is_new] = relaxed_.try_emplace(var, *it);
  if (is_new) relaxed = WithoutLargeEnds(Eval(*it));
  return relaxed;
}

IntervalSet SetEvaluator::VisitRamp(const tir::Ramp* ramp) {
  const int64_t* stride = AsInt(ramp->stride);
  if (!stride) return IntervalSet::Everything();
  const DataType dtype = ramp->base->dtype;
  const PrimExpr* zero = make_.Const(0, dtype);
  const int64_t* lanes = AsInt(ramp->lanes);
  if (!IsIndexType(dtype)) return IntervalSet::Everything();
  const PrimExpr* last = lanes ? Apply(NodeKind::kMul, ramp->stride, make_.Const(*lanes - 1, dtype)) : nullptr;
  const IntervalSet steps = *stride > 0 ? IntervalSet::Interval(zero, last) : IntervalSet::Interval(last, zero);
  return AddSets(VisitExpr(ramp->base), steps);
}

IntervalSet SetEvaluator::VisitCast(const tir::Cast* cast) {
  const IntervalSet value = VisitExpr(cast->value);
  const DataType dtype = cast->dtype.with_lanes(1);
  if (value.is_nothing() || !dtype.is_integer()) return value.is_nothing() ? value : IntervalSet::Everything();
  if (value.is_point()) return IntervalSet::Point(make_.Cast(dtype, value.min()));
  if (!Fits(value, cast->value->dtype, dtype)) return IntervalSet::Everything();
  const auto convert = [&](const PrimExpr* end) { return end ? make_.Cast(dtype, end) : nullptr; };
  return IntervalSet::Interval(convert(value.min()), convert(value.max()));
}

// Returns whether no value of the set wraps around when it is converted.
bool SetEvaluator::Fits(IntervalSet set, DataType from, DataType to) {
  if (!from.is_integer()) return false;
  const IntBound all = IntBound::Everything(to);
  const IntBound whole = IntBound::Everything(from);
  const int64_t min = set.min() ? analyzer_.Bound(set.min()).min : whole.min;
  const int64_t max = set.max() ? analyzer_.Bound(set.max()).max : whole.max;
  // The greatest integers of 64 bits have no bound that says which of them fit.
  return min >= all.min && max <= all.max && (max != IntBound::kPosInf || from.is_int() || from == to);
}

// The contents of a buffer are unknown; at fixed indices they are at least one value.
IntervalSet SetEvaluator::VisitBufferLoad(const tir::BufferLoad* load) {
  if (!load->dtype.is_integer()) return IntervalSet::Everything();
  const auto is_bounded = [this](const tir::Var* var) { return domains_.contains(var); };
  const bool varies = std::any_of(load->indices.begin(), load->indices.end(),
                                  [&](const PrimExpr* index) { return tir::UsesVar(index, is_bounded); });
  return varies ? IntervalSet::Everything() : IntervalSet::Point(load);
}

IntervalSet SetEvaluator::EvalBinary(const tir::BinaryExpr* e) {
  const IntervalSet a = VisitExpr(e->a);
  const IntervalSet b = VisitExpr(e->b);
  const auto unchanged = [](IntervalSet set, const PrimExpr* operand) {
    return set.is_point() && set.min() == operand;
  };
  if (unchanged(a, e->a) && unchanged(b, e->b)) return IntervalSet::Point(e);
  return Combine(e, a, b);
}

IntervalSet SetEvaluator::Combine(const tir::BinaryExpr* e, IntervalSet a, IntervalSet b) {
  if (a.is_nothing()) return a;
  if (b.is_nothing()) return b;
  if (a.is_point() && b.is_point()) return IntervalSet::Point(make_.Binary(e->kind, a.min(), b.min()));
  // The ends of sums, products and so on of other dtypes wrap around.
  const bool selects = e->kind == NodeKind::kMin || e->kind == NodeKind::kMax || IsComparisonOrLogic(e->kind);
  if (!selects && !IsIndexType(e->dtype.with_lanes(1))) return IntervalSet::Everything();
  if (IsComparisonOrLogic(e->kind)) return IntervalSet::Interval(make_.Bool(false), make_.Bool(true));
  switch (e->kind) {
    case NodeKind::kAdd: return AddSets(a, b);
    case NodeKind::kSub: return SubtractSets(a, b);
    case NodeKind::kMul:
      if (a.is_point()) std::swap(a, b);
      return b.is_point() ? Scale(e->kind, a, b.min()) : IntervalSet::Everything();
    case NodeKind::kDiv:
    case NodeKind::kFloorDiv: return b.is_point() ? Scale(e->kind, a, b.min()) : IntervalSet::Everything();
    case NodeKind::kMod:
    case NodeKind::kFloorMod: return b.is_point() ? Remainder(e->kind, a, b.min()) : IntervalSet::Everything();
    // One bounded operand is a bound of the result.
    case NodeKind::kMin:
      return IntervalSet::Interval(Apply(e->kind, a.min(), b.min()), a.max() && b.max() ? make_.Min(a.max(), b.max())
                                                                     : a.max()          ? a.max()
                                                                                        : b.max());
    case NodeKind::kMax:
      return IntervalSet::Interval(a.min() && b.min() ? make_.Max(a.min(), b.min())
                                   : a.min()          ? a.min()
                                                      : b.min(),
                                   Apply(e->kind, a.max(), b.max()));
    default: return IntervalSet::Everything();
  }
}

IntervalSet SetEvaluator::AddSets(IntervalSet a, IntervalSet b) {
  if (a.is_nothing() || b.is_nothing()) return IntervalSet::Nothing();
  return IntervalSet::Interval(Apply(NodeKind::kAdd, a.min(), b.min()), Apply(NodeKind::kAdd, a.max(), b.max()));
}

IntervalSet SetEvaluator::SubtractSets(IntervalSet a, IntervalSet b) {
  return IntervalSet::Interval(Apply(NodeKind::kSub, a.min(), b.max()), Apply(NodeKind::kSub, a.max(), b.min()));
}

IntervalSet SetEvaluator::Scale(NodeKind kind, IntervalSet a, const PrimExpr* factor) {
  if (IsInt(factor, 1)) return a;
  if (IsInt(factor, 0)) return kind == NodeKind::kMul ? IntervalSet::Point(factor) : IntervalSet::Everything();
  const PrimExpr* from_min = Apply(kind, a.min(), factor);
  const PrimExpr* from_max = Apply(kind, a.max(), factor);
  if (analyzer_.CanProveGreaterEqual(factor, 0)) return IntervalSet::Interval(from_min, from_max);
  if (analyzer_.CanProveLess(factor, 0)) return IntervalSet::Interval(from_max, from_min);
  if (!a.is_bounded()) return IntervalSet::Everything();
  const PrimExpr* positive = make_.Binary(NodeKind::kGE, factor, make_.Const(0, factor->dtype));
  return IntervalSet::Interval(make_.Select(positive, from_min, from_max), make_.Select(positive, from_max, from_min));
}

IntervalSet SetEvaluator::Remainder(NodeKind kind, IntervalSet a, const PrimExpr* divisor) {
  if (IsInt(divisor, 0)) return IntervalSet::Everything();
  const PrimExpr* zero = make_.Const(0, divisor->dtype);
  const PrimExpr* one = make_.Const(1, divisor->dtype);
  if (!analyzer_.CanProveGreaterEqual(divisor, 0)) {
    const PrimExpr* size = make_.Max(divisor, make_.Sub(zero, divisor));
    return IntervalSet::Interval(make_.Sub(one, size), make_.Sub(size, one));
  }
  const PrimExpr* most = make_.Sub(divisor, one);
  const bool floors = kind == NodeKind::kFloorMod;
  if (floors && AsInt(divisor) && a.is_bounded()) {
    // If the dividend does not cross a multiple of the divisor, the remainder changes as the dividend does.
    const PrimExpr* quotient = make_.FloorDiv(a.min(), divisor);
    if (analyzer_.CanProveEqual(quotient, make_.FloorDiv(a.max(), divisor))) {
      const PrimExpr* offset = make_.Mul(quotient, divisor);
      return IntervalSet::Interval(make_.Sub(a.min(), offset), make_.Sub(a.max(), offset));
    }
  }
  // A truncated remainder has the sign of the dividend.
  if (floors || (a.min() && analyzer_.CanProveGreaterEqual(a.min(), 0))) return IntervalSet::Interval(zero, most);
  return IntervalSet::Interval(make_.Sub(zero, most), most);
}

}  // namespace

IntervalSet IntervalSet::Nothing() {
  IntervalSet set;
  set.nothing_ = true;
  return set;
}

IntervalSet IntervalSet::FromRange(const PrimExpr* min, const PrimExpr* extent, const PrimBuilder& make) {
  if (IsInt(extent, 1)) return Point(min);
  return {min, make.Sub(make.Add(extent, min), make.Const(1, min->dtype))};
}

bool IntervalSet::CanProvePoint(Analyzer& analyzer) const {
  return is_point() || (is_bounded() && analyzer.CanProveEqual(min_, max_));
}

IntervalSet Union(IntervalSet a, IntervalSet b, Analyzer& analyzer) {
  if (a.is_nothing()) return b;
  if (b.is_nothing()) return a;
  const PrimBuilder& make = analyzer.make();
  if (a.is_point() && b.is_point() && DeepEqual(a.min(), b.min()))
    return IntervalSet::Point(analyzer.Simplify(a.min()));
  return IntervalSet::Interval(a.min() && b.min() ? analyzer.Simplify(make.Min(a.min(), b.min())) : nullptr,
                               a.max() && b.max() ? analyzer.Simplify(make.Max(a.max(), b.max())) : nullptr);
}

IntervalSet Intersect(IntervalSet a, IntervalSet b, Analyzer& analyzer) {
  if (a.is_nothing()) return a;
  if (b.is_nothing()) return b;
  const PrimBuilder& make = analyzer.make();
  const auto closer = [&](NodeKind kind, const PrimExpr* x, const PrimExpr* y) -> const PrimExpr* {
    if (!x || !y) return x || y ? analyzer.Simplify(x ? x : y) : nullptr;
    return analyzer.Simplify(make.Binary(kind, x, y));
  };
  const PrimExpr* min = closer(NodeKind::kMax, a.min(), b.min());
  const PrimExpr* max = closer(NodeKind::kMin, a.max(), b.max());
  if (min && max && analyzer.CanProve(make.Binary(NodeKind::kLT, max, min))) return IntervalSet::Nothing();
  return IntervalSet::Interval(min, max);
}

IntervalSet EvalSet(const PrimExpr* e, const VarDomains& domains, Analyzer& analyzer) {
  return SetEvaluator(domains, analyzer).VisitExpr(e);
}

IntervalSet EvalSet(IntervalSet set, const VarDomains& domains, Analyzer& analyzer) {
  return SetEvaluator(domains, analyzer).Eval(set);
}

IntervalSet EvalSet(const tir::Range& range, const VarDomains& domains, Analyzer& analyzer) {
  if (analyzer.CanProveEqual(range.extent, analyzer.make().Const(1, range.extent->dtype)))
    return EvalSet(range.min, domains, analyzer);
  // Simplified first, because ends that share variables with the extent are tighter then.
  const IntervalSet set = IntervalSet::FromRange(range, analyzer.make());
  return EvalSet(IntervalSet::Interval(set.min(), analyzer.Simplify(set.max())), domains, analyzer);
}

std::vector<IntervalSet> EvalSet(std::span<const tir::Range* const> region, const VarDomains& domains,
                                 Analyzer& analyzer) {
  std::vector<IntervalSet> sets;
  sets.reserve(region.size());
  for (const tir::Range* range : region) sets.push_back(EvalSet(*range, domains, analyzer));
  return sets;
}

tir::Range CoverRange(IntervalSet set, const tir::Range& whole, Analyzer& analyzer) {
  if (!set.is_bounded()) return whole;
  const PrimBuilder& make = analyzer.make();
  const PrimExpr* end = make.Add(set.max(), make.Const(1, set.max()->dtype));
  return {analyzer.Simplify(set.min()), analyzer.Simplify(make.Sub(end, set.min()))};
}

}  // namespace iropt::arith
