// Sets of integers with symbolic ends, and the set of values of an expression for variables in such sets.
//
//   // for i in range(16): A[i * 4 + j]
//   arith::VarDomains domains{{i, arith::IntervalSet::FromRange(0, 16, analyzer.make())}};
//   arith::IntervalSet set = arith::EvalSet(index, domains, analyzer);      // [j, 60 + j]
//
// Sets are intervals: the result of an operation is the least interval that the rules below can find; it may hold more
// values than the expression takes, but never fewer. Ends are expressions of variables that are not in `domains`; they
// are not simplified unless a function says so. Made after TVM's arith::IntervalSet and EvalSet (src/arith/int_set.cc).
#pragma once

#include <span>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::arith {

// All integers from min to max, both included. The empty set is Nothing() alone: an interval whose ends are symbolic
// may turn out to be empty as well.
class IntervalSet {
 public:
  static IntervalSet Everything() { return {}; }
  static IntervalSet Nothing();
  static IntervalSet Point(const PrimExpr* value) { return {value, value}; }
  // Null ends are unbounded.
  static IntervalSet Interval(const PrimExpr* min, const PrimExpr* max) { return {min, max}; }
  // min, min + 1, ..., min + extent - 1; a point if the extent is 1.
  static IntervalSet FromRange(const PrimExpr* min, const PrimExpr* extent, const PrimBuilder& make);
  static IntervalSet FromRange(const tir::Range& range, const PrimBuilder& make) {
    return FromRange(range.min, range.extent, make);
  }

  // Null if the set is unbounded on that side, or empty.
  const PrimExpr* min() const { return min_; }
  const PrimExpr* max() const { return max_; }
  bool is_nothing() const { return nothing_; }
  bool is_everything() const { return !min_ && !max_ && !nothing_; }
  bool is_bounded() const { return min_ && max_; }
  // Both ends are the same expression; see CanProvePoint for ends that are only equal.
  bool is_point() const { return min_ && min_ == max_; }
  bool CanProvePoint(Analyzer& analyzer) const;

 private:
  IntervalSet() = default;
  IntervalSet(const PrimExpr* min, const PrimExpr* max) : min_(min), max_(max) {}

  const PrimExpr* min_ = nullptr;
  const PrimExpr* max_ = nullptr;
  bool nothing_ = false;
};

// The variables that are relaxed, and their sets of values.
using VarDomains = LookupMap<const tir::Var*, IntervalSet>;

// The least interval that holds both, and the common part of both. The ends are simplified. A set is found to be empty
// only if the analyzer can prove it.
IntervalSet Union(IntervalSet a, IntervalSet b, Analyzer& analyzer);
IntervalSet Intersect(IntervalSet a, IntervalSet b, Analyzer& analyzer);

// The values that an expression takes while the variables in `domains` run through their sets. A domain may depend on
// other variables in `domains`. A vector stands for the values of all its lanes. An expression that does not depend on
// such a variable is a point, except calls and loads with an unknown result, which may have any value. O(nodes), times
// the nesting of domains.
IntervalSet EvalSet(const PrimExpr* e, const VarDomains& domains, Analyzer& analyzer);
// Return the values that all members of a set, and of a range, take while the variables in `domains` run through their
// sets.
IntervalSet EvalSet(IntervalSet set, const VarDomains& domains, Analyzer& analyzer);
IntervalSet EvalSet(const tir::Range& range, const VarDomains& domains, Analyzer& analyzer);
// Each dimension of a region separately: an upper bound of the accesses.
std::vector<IntervalSet> EvalSet(std::span<const tir::Range* const> region, const VarDomains& domains,
                                 Analyzer& analyzer);

// The bounded set as a range with simplified ends, or `whole` if an end is missing.
tir::Range CoverRange(IntervalSet set, const tir::Range& whole, Analyzer& analyzer);

}  // namespace iropt::arith
