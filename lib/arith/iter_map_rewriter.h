// Rewrites expressions to sums of digits of iterators. Private to lib/arith.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "iropt/arith/iter_map.h"
#include "iropt/support/lookup.h"

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
  const PrimExpr* base = nullptr;
  bool has_iters = false;  // it is made of iterators, those that run once among them
};

// An iterator from 0 to extent - 1: an expression, or (expr null) a sum of others.
struct IterMark {
  const PrimExpr* expr = nullptr;
  IterSum sum;
  const PrimExpr* extent = nullptr;
  IterSum flat = {};                   // the sum without marks of other sums
  const IterMark* unpadded = nullptr;  // of an iterator with padding: the sum is that one, and the values before it
  bool is_split = false;               // the sum is one split, of which the digits are taken as of a new iterator
};

class IterMapRewriter {
 public:
  // With ranges that replace those in `iters`.
  IterMapRewriter(const IterRanges& iters, const IterRanges& constrained, IterMapOptions options, Analyzer& analyzer)
      : iters_(iters), constrained_(constrained), options_(options), analyzer_(analyzer) {}

  // Nothing if an expression is not a map. At levels that allow it, iterators are padded to multiples of the divisors
  // that all the expressions have for them together.
  std::optional<std::vector<IterSum>> Rewrite(std::span<const PrimExpr* const> exprs);
  // The expression as a sum that is not taken as one iterator.
  std::optional<IterSum> RewriteToSum(const PrimExpr* expr);
  // Of the values of padded iterators, those that are padding; null without padded iterators.
  const PrimExpr* padding_predicate() const { return padding_predicate_; }
  // Returns whether the sums are equal to the expressions. Else expressions need different padding of one iterator, and
  // a sum takes the values of its expression in another order.
  bool is_exact() const { return is_exact_; }
  // From now on lower <= expr < upper, either of which may be null. False if the iterators cannot express that.
  bool Constrain(const PrimExpr* expr, const PrimExpr* lower, const PrimExpr* upper);
  // Returns whether the terms of any two constraints are disjoint, or those of the earlier one part of those of the
  // later.
  bool AreConstraintsNested() const;
  // Returns whether each constraint is on iterators that occur in the sums together, or not at all. Else a sum may take
  // fewer values than its extent says.
  bool AreConstraintsUsed(std::span<const IterSum> sums);
  // Returns whether the digits of each iterator in the sums are different ones that take all their values together. At
  // the bijective level, all iterators and all their digits have to be there.
  bool AreIndependent(std::span<const IterSum> sums);
  const PrimExpr* ToExpr(const IterSum& sum);
  // The digits of each iterator in the sums, and in iterators that are sums of others.
  static std::vector<std::pair<const IterMark*, std::vector<IterSplit>>> SplitsOf(std::span<const IterSum> sums);
  // The iterator from 0 of a variable that a rewritten expression has used; null if it was not used, or runs once.
  const IterMark* MarkOf(const tir::Var* var) const {
    const auto* found = vars_.Find(var);
    return !found || found->args.empty() ? nullptr : found->args[0].source;
  }

 private:
  const PrimBuilder& make() const { return analyzer_.make(); }
  IterSum Fail(const PrimExpr* expr) {
    failed_ = true;
    return {{}, expr};
  }

  std::optional<IterSum> RewriteOne(const PrimExpr* expr);
  IterSum Visit(const PrimExpr* expr);
  // The iterator as it is written: the variable, or a cast of it to a wider type.
  IterSum VisitVar(const tir::Var* var, const PrimExpr* value);
  IterSum VisitProduct(const tir::BinaryExpr& expr);
  IterSum VisitQuotient(const tir::BinaryExpr& expr, bool is_mod);
  IterSum Divide(IterSplit split, const PrimExpr* base, const PrimExpr* divisor);
  IterSum Modulo(IterSplit split, const PrimExpr* base, const PrimExpr* divisor);
  const IterMark* MarkOfSplit(const IterSplit& split);
  bool UsesIter(const PrimExpr* expr) const;

  void Add(IterSum& sum, const IterSum& other, NodeKind sign);
  const PrimExpr* Product(const PrimExpr* a, const PrimExpr* b);
  bool IsDivisible(const PrimExpr* a, const PrimExpr* b);
  bool Equal(const PrimExpr* a, const PrimExpr* b) { return a == b || analyzer_.CanProveEqual(a, b); }

  // The sum as one iterator; nothing if there are gaps between the values, or values that occur twice.
  std::optional<IterSum> Fuse(IterSum sum, bool may_skip);
  // Joins neighboring digits of the same iterator.
  bool Combine(IterSum& sum);
  // The longest constraint whose last term is this one.
  const IterSum* FindConstraint(const IterSplit& split) const;
  bool AreDigits(const IterMark& mark, const std::vector<IterSplit>& splits);
  // Returns whether digits up to `expected` of an iterator with padding take all their values in spite of it.
  bool ArePaddedDigits(const IterMark& mark, const std::vector<IterSplit>& splits, const PrimExpr* expected);
  const PrimExpr* ToExpr(const IterSplit& split);

  // ---- Padding (iter_map_padding.cpp)
  struct Padding {
    const PrimExpr* factor;            // the number of values with padding is a multiple of it
    const PrimExpr* before;            // the number of values before the first one
    const PrimExpr* after = nullptr;   // set with `padded`
    const IterMark* padded = nullptr;  // in the second round
  };
  struct PaddedSplit {
    IterSplit split;
    const PrimExpr* before;  // the number of values that were added before the first one
  };
  // Pads the iterator of the split, so that split + base - before is a multiple of the divisor where the split is 0.
  // Nothing if the padding of the iterator is not one for this split.
  std::optional<PaddedSplit> Pad(const IterSplit& split, const PrimExpr* base, const PrimExpr* divisor);
  // In the first round: notes what padding the iterator needs.
  PaddedSplit NotePadding(IterSplit split, const PrimExpr* before, const PrimExpr* divisor);
  void AddPaddedMark(const IterMark* mark, Padding& padding);
  const PrimExpr* LeastCommonMultiple(const PrimExpr* a, const PrimExpr* b);

  struct Fused {
    IterSum flat;
    const IterMark* mark;
    const PrimExpr* offset;
  };
  Fused* FindFused(const IterSum& flat);

  const IterRanges& iters_;
  const IterRanges& constrained_;
  const IterMapOptions options_;
  Analyzer& analyzer_;
  bool failed_ = false;
  bool is_exact_ = true;
  bool is_first_round_ = false;
  bool needs_padding_ = false;
  std::deque<IterMark> marks_;
  LookupMap<const tir::Var*, IterSum> vars_;
  std::vector<Fused> fused_;
  std::vector<IterSum> constraints_;  // in flat form
  LookupMap<const IterMark*, Padding> paddings_;
  const PrimExpr* padding_predicate_ = nullptr;
};

}  // namespace iropt::arith
