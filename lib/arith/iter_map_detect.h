// Finding iterator maps: the sums of digits of iterators that indices are. Private to lib/arith.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iter_map_rewriter.h"

namespace iropt::arith {

// lower <= expr < upper, either of which may be null.
struct IterConstraint {
  const PrimExpr* expr;
  const PrimExpr* lower;
  const PrimExpr* upper;
  size_t size;  // of the expression
};

inline size_t SizeOfIterExpr(const PrimExpr* expr) {
  size_t size = 0;
  tir::PostOrderVisit(expr, [&](const Node*) { ++size; });
  return size;
}

// The bounds that conditions give to iterators and to expressions of them.
class IterConstraintCollector {
 public:
  IterConstraintCollector(const IterRanges& iters, Analyzer& analyzer) : iters_(iters), analyzer_(analyzer) {}

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
  std::vector<IterConstraint> Sorted() {
    std::ranges::stable_sort(constraints_, {}, &IterConstraint::size);
    return std::move(constraints_);
  }

 private:
  static bool IsComparison(const PrimExpr* e) { return e->kind >= NodeKind::kLT && e->kind <= NodeKind::kGE; }

  bool UsesIter(const PrimExpr* e) const { return tir::UsesAnyOf(iters_, e); }

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
    const auto* iter = var ? iters_.Find(var) : nullptr;
    if (!iter) {
      constraints_.push_back({expr, lower, upper, SizeOfIterExpr(expr)});
      return;
    }
    const auto* known = ranges.Find(var);
    const tir::Range& range = !known ? *iter : *known;
    const PrimExpr* min = range.min;
    const PrimExpr* max = make.Add(min, range.extent);
    if (lower) min = make.Max(min, lower);
    if (upper) max = make.Min(max, upper);
    ranges.insert_or_assign(var, tir::Range(min, IsInt(min, 0) ? max : make.Sub(max, min)));
  }

  const IterRanges& iters_;
  Analyzer& analyzer_;
  std::vector<IterConstraint> constraints_;
};

// Returns use(rewriter, sums) for the indices as sums; nothing if they are not a map together.
template <class T, class F>
std::optional<T> DetectSums(std::span<const PrimExpr* const> indices, const IterRanges& iters,
                            const PrimExpr* condition, IterMapOptions options, Analyzer& analyzer, F&& use) {
  IterConstraintCollector collector(iters, analyzer);
  if (condition && !collector.Collect(condition)) return std::nullopt;
  const std::vector<IterConstraint> constraints = collector.Sorted();
  IterMapRewriter rewriter(iters, collector.ranges, options, analyzer);
  for (const IterConstraint& constraint : constraints) {
    if (!rewriter.Constrain(constraint.expr, constraint.lower, constraint.upper)) return std::nullopt;
  }
  if (!rewriter.AreConstraintsNested()) return std::nullopt;
  const auto sums = rewriter.Rewrite(indices);
  if (!sums || !rewriter.AreIndependent(*sums)) return std::nullopt;
  return use(rewriter, *sums);
}

}  // namespace iropt::arith
