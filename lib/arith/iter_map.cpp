#include "iropt/arith/iter_map.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "iropt/ir/tir/visitor.h"
#include "iter_map_rewriter.h"

namespace iropt::arith {

namespace {

// lower <= expr < upper, either of which may be null.
struct Constraint {
  const PrimExpr* expr;
  const PrimExpr* lower;
  const PrimExpr* upper;
  size_t size;  // of the expression
};

size_t SizeOf(const PrimExpr* expr) {
  size_t size = 0;
  tir::PostOrderVisit(expr, [&](const Node*) { ++size; });
  return size;
}

// The bounds that conditions give to iterators and to expressions of them.
class ConstraintCollector {
 public:
  ConstraintCollector(const IterRanges& iters, Analyzer& analyzer) : iters_(iters), analyzer_(analyzer) {}

  // False if there is something else than a conjunction of comparisons.
  bool Collect(const PrimExpr* condition) {
    for (;;) {
      const auto* both = As<tir::And>(condition);
      if (!both) return Compare(condition);
      if (IsComparison(both->b)) {
        if (!Compare(both->b)) return false;
        condition = both->a;
      } else {
        if (!IsComparison(both->a) || !Compare(both->a)) return false;
        condition = both->b;
      }
    }
  }

  // The iterators with bounds of their own.
  IterRanges ranges;
  // The others, small ones first: a bigger one may contain a smaller one.
  std::vector<Constraint> Sorted() {
    std::ranges::stable_sort(constraints_, {}, &Constraint::size);
    return std::move(constraints_);
  }

 private:
  static bool IsComparison(const PrimExpr* e) { return e->kind >= NodeKind::kLT && e->kind <= NodeKind::kGE; }

  bool UsesIter(const PrimExpr* e) const {
    return tir::UsesVar(e, [&](const tir::Var* var) { return iters_.contains(var); });
  }

  bool Compare(const PrimExpr* condition) {
    if (!IsComparison(condition)) return false;
    const auto& order = *To<tir::BinaryExpr>(condition);
    const PrimExpr* a = order.a;
    const PrimExpr* b = order.b;
    if (!a->dtype.is_integer() || !b->dtype.is_integer()) return false;
    const bool a_uses = UsesIter(a);
    const bool b_uses = UsesIter(b);
    if (!a_uses && !b_uses) return true;
    const PrimBuilder& make = analyzer_.make();
    if (a_uses && b_uses) {
      const PrimExpr* iter_part = make.Const(0, a->dtype);
      const PrimExpr* rest = make.Const(0, a->dtype);
      Separate(a, true, iter_part, rest);
      Separate(b, false, iter_part, rest);
      a = analyzer_.Simplify(iter_part);
      b = analyzer_.Simplify(rest);
    }
    const bool bound_is_left = !a_uses;
    const PrimExpr* expr = bound_is_left ? b : a;
    const PrimExpr* bound = bound_is_left ? a : b;
    const bool is_equal = order.kind == NodeKind::kLE || order.kind == NodeKind::kGE;
    const bool is_greater = order.kind == NodeKind::kGT || order.kind == NodeKind::kGE;
    const PrimExpr* next = make.Add(bound, make.Const(1, bound->dtype));
    if (is_greater != bound_is_left) {
      Bound(expr, is_equal ? bound : next, nullptr);
    } else {
      Bound(expr, nullptr, is_equal ? next : bound);
    }
    return true;
  }

  // Adds the terms of the sum that use iterators to `iter_part`, and subtracts the others from `rest`.
  void Separate(const PrimExpr* sum, bool plus, const PrimExpr*& iter_part, const PrimExpr*& rest) {
    const PrimBuilder& make = analyzer_.make();
    if (sum->kind == NodeKind::kAdd || sum->kind == NodeKind::kSub) {
      const auto& both = *To<tir::BinaryExpr>(sum);
      Separate(both.a, plus, iter_part, rest);
      Separate(both.b, plus == (sum->kind == NodeKind::kAdd), iter_part, rest);
    } else if (UsesIter(sum)) {
      iter_part = plus ? make.Add(iter_part, sum) : make.Sub(iter_part, sum);
    } else {
      rest = plus ? make.Sub(rest, sum) : make.Add(rest, sum);
    }
  }

  void Bound(const PrimExpr* expr, const PrimExpr* lower, const PrimExpr* upper) {
    const PrimBuilder& make = analyzer_.make();
    const auto* var = As<tir::Var>(expr);
    const auto iter = var ? iters_.find(var) : iters_.end();
    if (iter == iters_.end()) {
      constraints_.push_back({expr, lower, upper, SizeOf(expr)});
      return;
    }
    const auto known = ranges.find(var);
    const tir::Range& range = known == ranges.end() ? iter->second : known->second;
    const PrimExpr* min = range.min;
    const PrimExpr* max = make.Add(min, range.extent);
    if (lower) min = make.Max(min, lower);
    if (upper) max = make.Min(max, upper);
    ranges.insert_or_assign(var, tir::Range(min, IsInt(min, 0) ? max : make.Sub(max, min)));
  }

  const IterRanges& iters_;
  Analyzer& analyzer_;
  std::vector<Constraint> constraints_;
};

// What use(rewriter, sums) makes of the indices as sums; nothing if they are not a map together.
template <class T, class F>
std::optional<T> Detect(std::span<const PrimExpr* const> indices, const IterRanges& iters, const PrimExpr* condition,
                        IterMapOptions options, Analyzer& analyzer, F&& use) {
  ConstraintCollector collector(iters, analyzer);
  if (condition && !collector.Collect(condition)) return std::nullopt;
  const std::vector<Constraint> constraints = collector.Sorted();
  IterMapRewriter rewriter(iters, collector.ranges, options, analyzer);
  for (const Constraint& constraint : constraints) {
    if (!rewriter.Constrain(constraint.expr, constraint.lower, constraint.upper)) return std::nullopt;
  }
  if (!rewriter.AreConstraintsNested()) return std::nullopt;
  const auto sums = rewriter.Rewrite(indices);
  if (!sums || !rewriter.AreIndependent(*sums)) return std::nullopt;
  return use(rewriter, *sums);
}

// The same where the sums are equal to the indices.
template <class T, class F>
std::optional<T> DetectExact(std::span<const PrimExpr* const> indices, const IterRanges& iters,
                             const PrimExpr* condition, Analyzer& analyzer, F&& use) {
  const auto use_exact = [&](IterMapRewriter& rewriter, const std::vector<IterSum>& sums) -> std::optional<T> {
    if (!rewriter.is_exact()) return std::nullopt;
    return use(rewriter, sums);
  };
  return Detect<T>(indices, iters, condition, {}, analyzer, use_exact);
}

// The same as Detect and SetOf find, for an index that is a constant or one iterator of a constant range, which most
// are.
std::optional<IntervalSet> SetOfSimpleIndex(const tir::Range& range, const IterRanges& iters, const PrimBuilder& make) {
  if (!AsInt(range.extent)) return std::nullopt;
  if (AsInt(range.min)) return IntervalSet::FromRange(range.min, range.extent, make);
  const auto* var = As<tir::Var>(range.min);
  const auto iter = var ? iters.find(var) : iters.end();
  if (iter == iters.end()) return std::nullopt;
  const PrimExpr* min = iter->second.min;
  const PrimExpr* extent = iter->second.extent;
  if (!AsInt(min) || !AsInt(extent)) return std::nullopt;
  const PrimExpr* more = make.Sub(range.extent, make.Const(1, extent->dtype));
  return IntervalSet::FromRange(min, make.Add(extent, more), make);
}

// Whether an index is v0 * c0 + v1 * c1 + ... + vn, or v0 * c0, perhaps plus a constant, of different iterators from 0,
// where the scale of each is the number of values of those after it. A map of the iterators has the same form. Most
// flat indices are such.
bool IsRowMajorSum(const PrimExpr* index, const IterRanges& iters) {
  constexpr size_t kMostTerms = 8;
  std::array<const tir::Var*, kMostTerms> seen;
  constexpr int64_t kMostValues = int64_t{1} << 62;
  size_t count = 0;
  int64_t values = 1;  // of the iterators so far
  const auto* outer = As<tir::Add>(index);
  if (outer && AsInt(outer->b)) index = outer->a;
  while (index) {  // from right to left
    const auto* sum = As<tir::Add>(index);
    const PrimExpr* term = sum ? sum->b : index;
    index = sum ? sum->a : nullptr;
    const auto* product = As<tir::Mul>(term);
    const int64_t* factor = product ? AsInt(product->b) : nullptr;
    const int64_t scale = !product ? 1 : factor ? *factor : 0;
    const bool is_alone = count == 0 && !index;
    if (is_alone ? scale <= 0 : scale != values) return false;
    const auto* var = As<tir::Var>(product ? product->a : term);
    const auto iter = var ? iters.find(var) : iters.end();
    if (iter == iters.end() || count == kMostTerms) return false;
    const int64_t* extent = AsInt(iter->second.extent);
    if (!extent || *extent < 2 || *extent > kMostValues / values || !IsInt(iter->second.min, 0)) return false;
    if (std::find(seen.begin(), seen.begin() + count, var) != seen.begin() + count) return false;
    seen[count++] = var;
    values *= *extent;
  }
  return true;
}

bool UsesAny(const IterRanges& iters, const PrimExpr* expr) {
  return tir::UsesVar(expr, [&](const tir::Var* var) { return iters.contains(var); });
}

// sum, sum + 1, ..., sum + extent - 1 for all values of the iterators; nothing if there are gaps, or if the base has
// iterators: quotients of those with a single value stay as they are.
std::optional<IntervalSet> SetOf(const IterSum& sum, const IterRanges& iters, const PrimExpr* extent,
                                 Analyzer& analyzer) {
  if (UsesAny(iters, sum.base)) return std::nullopt;
  const PrimBuilder& make = analyzer.make();
  if (sum.args.empty()) return IntervalSet::FromRange(sum.base, extent, make);
  if (sum.args.size() != 1) return std::nullopt;
  const IterSplit& split = sum.args[0];
  const PrimExpr* steps = make.Sub(split.extent, make.Const(1, split.extent->dtype));
  const PrimExpr* span = make.Mul(steps, split.scale);
  if (analyzer.CanProveLess(split.scale, 0)) {
    if (!analyzer.CanProveGreaterEqual(make.Add(extent, split.scale), 0)) return std::nullopt;
    return IntervalSet::FromRange(make.Add(sum.base, span), make.Sub(extent, span), make);
  }
  if (!analyzer.CanProveGreaterEqual(make.Sub(extent, split.scale), 0)) return std::nullopt;
  const PrimExpr* whole = make.Add(make.Mul(split.extent, split.scale), make.Sub(extent, split.scale));
  return IntervalSet::FromRange(sum.base, whole, make);
}

}  // namespace

std::optional<IterMapResult> DetectIterMap(std::span<const PrimExpr* const> indices, const IterRanges& iters,
                                           const PrimExpr* condition, IterMapOptions options, Analyzer& analyzer) {
  const auto to_result = [&](IterMapRewriter& rewriter, const std::vector<IterSum>& sums) {
    IterMapResult result = {{}, rewriter.padding_predicate(), rewriter.is_exact()};
    for (const IterSum& sum : sums) {
      const PrimExpr* one = analyzer.make().Const(1, sum.base->dtype);
      const bool is_constant = sum.args.empty();
      result.indices.push_back({.expr = rewriter.ToExpr(sum),
                                .extent = is_constant ? one : sum.args[0].extent,
                                .scale = is_constant ? one : sum.args[0].scale,
                                .base = sum.base});
    }
    return std::optional(std::move(result));
  };
  return Detect<IterMapResult>(indices, iters, condition, options, analyzer, to_result);
}

const PrimExpr* SimplifyIterMap(const PrimExpr* index, const IterRanges& iters,
                                std::span<const PrimExpr* const> conditions, Analyzer& analyzer) {
  if (conditions.empty() && IsRowMajorSum(index, iters)) return index;
  const PrimExpr* condition = nullptr;
  for (const PrimExpr* c : conditions) {
    condition = condition ? analyzer.make().Binary(NodeKind::kAnd, condition, c) : c;
  }
  const auto to_expr = [](IterMapRewriter& rewriter, const std::vector<IterSum>& sums) {
    return std::optional<const PrimExpr*>(rewriter.ToExpr(sums[0]));
  };
  const std::span<const PrimExpr* const> indices(&index, 1);
  auto found = DetectExact<const PrimExpr*>(indices, iters, condition, analyzer, to_expr);
  // A condition may be beyond what iterators can express; the index may still be a map without it.
  if (!found && condition) found = DetectExact<const PrimExpr*>(indices, iters, nullptr, analyzer, to_expr);
  return found.value_or(index);
}

std::optional<IntervalSet> EstimateIterMap(const tir::Range& range, const IterRanges& iters, const PrimExpr* condition,
                                           Analyzer& analyzer) {
  if (!condition) {
    if (const auto simple = SetOfSimpleIndex(range, iters, analyzer.make())) return simple;
  }
  const auto to_set = [&](IterMapRewriter&, const std::vector<IterSum>& sums) {
    return SetOf(sums[0], iters, range.extent, analyzer);
  };
  return DetectExact<IntervalSet>(std::span(&range.min, 1), iters, condition, analyzer, to_set);
}

std::optional<std::vector<IntervalSet>> EstimateRegionStrictBound(std::span<const tir::Range* const> region,
                                                                  const IterRanges& iters, const PrimExpr* condition,
                                                                  Analyzer& analyzer) {
  std::vector<const PrimExpr*> begins;
  for (const tir::Range* range : region) {
    if (!AsInt(range->extent)) return std::nullopt;
    begins.push_back(range->min);
  }
  using Sets = std::vector<IntervalSet>;
  const auto to_sets = [&](IterMapRewriter& rewriter, const std::vector<IterSum>& sums) -> std::optional<Sets> {
    if (!rewriter.AreConstraintsUsed(sums)) return std::nullopt;
    Sets sets;
    for (size_t i = 0; i < sums.size(); ++i) {
      const std::optional<IntervalSet> set = SetOf(sums[i], iters, region[i]->extent, analyzer);
      if (!set) return std::nullopt;
      sets.push_back(*set);
    }
    return sets;
  };
  return DetectExact<Sets>(begins, iters, condition, analyzer, to_sets);
}

std::vector<IntervalSet> EstimateRegionUpperBound(std::span<const tir::Range* const> region, const IterRanges& iters,
                                                  const PrimExpr* condition, Analyzer& analyzer) {
  if (auto strict = EstimateRegionStrictBound(region, iters, condition, analyzer)) return *std::move(strict);
  VarDomains domains;
  for (const auto& [var, range] : iters)  // the order does not matter: the domains are another map
    domains.insert_or_assign(var, IntervalSet::FromRange(range, analyzer.make()));
  std::vector<IntervalSet> sets;
  for (const tir::Range* range : region) {
    const std::optional<IntervalSet> set = EstimateIterMap(*range, iters, condition, analyzer);
    sets.push_back(set ? *set : EvalSet(*range, domains, analyzer));
  }
  return sets;
}

bool AreIndependentIterMaps(std::span<const PrimExpr* const> values, const IterRanges& iters, const PrimExpr* condition,
                            Analyzer& analyzer) {
  if (iters.empty()) return true;
  const auto counts_by_one = [](IterMapRewriter&, const std::vector<IterSum>& sums) -> std::optional<bool> {
    return std::ranges::all_of(sums,
                               [](const IterSum& sum) { return sum.args.empty() || IsInt(sum.args[0].scale, 1); });
  };
  return Detect<bool>(values, iters, condition, {}, analyzer, counts_by_one).value_or(false);
}

}  // namespace iropt::arith
