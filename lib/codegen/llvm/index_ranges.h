// Which integers the expressions of a function may be, so that what is known to be in bounds needs no check at run
// time.
//
// Unlike arith::BoundAnalyzer, which assumes that index arithmetic does not overflow, these ranges hold for any
// program: what could leave the range of its dtype may be anything in it.
#pragma once

#include <limits>
#include <unordered_map>
#include <vector>

#include "iropt/ir/tir/expr.h"

namespace iropt::codegen {

// All integers from min to max. Unsigned integers of 64 bits are unknown unless they are small.
struct IntRange {
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();

  static IntRange Of(DataType dtype);
  bool IsWithin(IntRange other) const { return min >= other.min && max <= other.max; }
  IntRange Intersect(IntRange other) const { return {std::max(min, other.min), std::min(max, other.max)}; }
  IntRange Union(IntRange other) const { return {std::min(min, other.min), std::max(max, other.max)}; }
};

class IndexRanges {
 public:
  // Of an integer expression; of a vector, the range of all lanes. O(1): looks at a bounded number of nodes.
  IntRange Of(const PrimExpr* expr) const;
  // Whether an operation on integers, kAdd to kMul, stays in the range of its dtype.
  bool Fits(const tir::BinaryExpr& expr) const;
  // Whether 0 <= index < extent whenever the index is computed.
  bool IsInBounds(const PrimExpr* index, const PrimExpr* extent) const;

  // The variable is in the range, and less than `end` where that is not null and the range is not negative.
  void Bind(const tir::Var* var, IntRange range, const PrimExpr* end = nullptr);
  // The variable has the value of the expression.
  void BindValue(const tir::Var* var, const PrimExpr* value);

  // The condition holds (or not) while this lives. Scopes nest.
  class Assumption {
   public:
    Assumption(IndexRanges& ranges, const PrimExpr* condition, bool holds = true);
    ~Assumption() { ranges_.facts_.resize(before_); }
    Assumption(const Assumption&) = delete;
    Assumption& operator=(const Assumption&) = delete;

   private:
    IndexRanges& ranges_;
    size_t before_;
  };

 private:
  struct Known {
    IntRange range;
    const PrimExpr* end = nullptr;
  };
  struct Fact {
    const PrimExpr* expr;
    IntRange range;
  };
  IntRange OfNode(const PrimExpr* expr, int& budget) const;
  IntRange OfBinary(const tir::BinaryExpr& expr, int& budget) const;
  IntRange OfCall(const tir::Call& call, int& budget) const;
  IntRange OfSum(const tir::BinaryExpr& expr, int& budget, bool* fits) const;
  IntRange Within(const PrimExpr* expr, int& budget) const;
  void Assume(const PrimExpr* condition, bool holds);
  void AssumeComparison(const tir::BinaryExpr& comparison, bool holds);
  void AddFact(const PrimExpr* expr, IntRange range);

  std::unordered_map<const tir::Var*, Known> vars_;  // looked up, never iterated
  std::vector<Fact> facts_;
};

}  // namespace iropt::codegen
