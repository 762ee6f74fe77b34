// Rewrites expressions to sums of digits of iterators. Private to lib/arith.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "iropt/arith/iter_map.h"

namespace iropt::arith {

struct IterMark;

// source // lower_factor % extent * scale
struct IterSplit {
  const IterMark* source;
  const PrimExpr* lower_factor;
  const PrimExpr* extent;
  const PrimExpr* scale;
};

struct IterSum {
  std::vector<IterSplit> args;
  const PrimExpr* base;
};

// An iterator from 0 to extent - 1: an expression, or (expr null) a sum of others.
struct IterMark {
  const PrimExpr* expr;
  IterSum sum;
  const PrimExpr* extent;
  IterSum flat = {};  // the sum without marks of other sums
};

class IterMapRewriter {
 public:
  // With ranges that replace those in `iters`.
  IterMapRewriter(const IterRanges& iters, const IterRanges& constrained, Analyzer& analyzer)
      : iters_(iters), constrained_(constrained), analyzer_(analyzer) {}

  // Nothing if the expression is not a map.
  std::optional<IterSum> Rewrite(const PrimExpr* expr);
  // From now on lower <= expr < upper, either of which may be null. False if the iterators cannot express that.
  bool Constrain(const PrimExpr* expr, const PrimExpr* lower, const PrimExpr* upper);
  // Returns whether the terms of any two constraints are disjoint, or those of the earlier one part of those of the
  // later.
  bool AreConstraintsNested() const;
  // Returns whether each constraint is on iterators that occur in the sums together, or not at all. Else a sum may take
  // fewer values than its extent says.
  bool AreConstraintsUsed(std::span<const IterSum> sums);
  // Returns whether the digits of each iterator in the sums are different ones.
  bool IsSurjective(std::span<const IterSum> sums);
  // The same, and all digits of the iterators that occur are there.
  bool IsBijective(std::span<const IterSum> sums);
  const PrimExpr* ToExpr(const IterSum& sum);
  // The iterator from 0 of a variable that a rewritten expression has used; null if it was not used, or runs once.
  const IterMark* MarkOf(const tir::Var* var) const {
    const auto found = vars_.find(var);
    return found == vars_.end() || found->second.args.empty() ? nullptr : found->second.args[0].source;
  }

 private:
  const PrimBuilder& make() const { return analyzer_.make(); }
  IterSum Fail(const PrimExpr* expr) {
    failed_ = true;
    return {{}, expr};
  }

  IterSum Visit(const PrimExpr* expr);
  IterSum VisitVar(const tir::Var* var);
  IterSum VisitProduct(const tir::BinaryExpr& expr);
  IterSum VisitQuotient(const tir::BinaryExpr& expr, bool is_mod);
  IterSum Divide(IterSplit split, const PrimExpr* base, const PrimExpr* divisor);
  IterSum Modulo(IterSplit split, const PrimExpr* base, const PrimExpr* divisor);
  // Whether the base and the extent of the split are multiples of the divisor, or the split is in range anyway.
  bool NeedsPadding(const IterSplit& split, const PrimExpr* base, const PrimExpr* divisor);
  bool UsesIter(const PrimExpr* expr) const;

  void Add(IterSum& sum, const IterSum& other, NodeKind sign);
  const PrimExpr* Product(const PrimExpr* a, const PrimExpr* b);
  bool IsDivisible(const PrimExpr* a, const PrimExpr* b);
  bool Equal(const PrimExpr* a, const PrimExpr* b) { return a == b || analyzer_.CanProveEqual(a, b); }

  // The sum as one iterator; nothing if there are gaps between the values, or values that occur twice.
  std::optional<IterSum> Fuse(IterSum sum, bool may_skip);
  // Joins neighboring digits of the same iterator.
  bool Combine(IterSum& sum);
  int FindBase(const IterSum& sum, const std::vector<bool>& visited, const IterMark* source, int last);
  int FindScale(const IterSum& sum, const std::vector<bool>& visited, const PrimExpr* scale, const IterMark* source,
                int last);
  int FindSmallerScale(const IterSum& sum, const std::vector<bool>& visited, const PrimExpr* scale);
  // The longest constraint whose last term is this one.
  const IterSum* FindConstraint(const IterSplit& split) const;
  // By mark; those of marks of other sums, too.
  static std::vector<std::pair<const IterMark*, std::vector<IterSplit>>> SplitsOf(std::span<const IterSum> sums);
  bool AreDigits(const IterMark& mark, std::vector<IterSplit> splits, bool all);
  const PrimExpr* ToExpr(const IterSplit& split);

  struct Fused {
    IterSum flat;
    const IterMark* mark;
    const PrimExpr* offset;
  };
  Fused* FindFused(const IterSum& flat);

  const IterRanges& iters_;
  const IterRanges& constrained_;
  Analyzer& analyzer_;
  bool failed_ = false;
  std::deque<IterMark> marks_;
  std::unordered_map<const tir::Var*, IterSum> vars_;  // looked up, never iterated
  std::vector<Fused> fused_;
  std::vector<IterSum> constraints_;  // in flat form
};

}  // namespace iropt::arith
