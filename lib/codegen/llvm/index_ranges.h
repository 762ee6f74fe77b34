// Value ranges of the integer expressions of a function, to omit run-time checks of indices that are provably in
// bounds.
//
// Unlike arith::BoundAnalyzer, which assumes that index arithmetic does not overflow, these ranges hold for all
// programs: an operation that may overflow has the full range of its dtype.
#pragma once

#include <limits>
#include <vector>

#include "iropt/ir/tir/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::codegen {

// The integers from min to max. Large unsigned 64-bit integers are unknown.
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
  // The range of an integer expression; for a vector, of all lanes. O(1): visits a bounded number of nodes.
  IntRange Of(const PrimExpr* expr) const;
  // Returns whether an integer operation, kAdd to kMul, cannot overflow.
  bool Fits(const tir::BinaryExpr& expr) const;
  // Returns whether the expression is a function of its variables: it is small and reads no memory.
  static bool IsStable(const PrimExpr* expr);
  // Returns whether 0 <= index < extent always holds.
  bool IsInBounds(const PrimExpr* index, const PrimExpr* extent) const;

  // States that the variable is in the range, and less than `end` if that is not null and the range is non-negative.
  void Bind(const tir::Var* var, IntRange range, const PrimExpr* end = nullptr);
  // States that the variable has the value of the expression.
  void BindValue(const tir::Var* var, const PrimExpr* value);
  // States that the variable of a function, which sizes of parameters depend on, is in the range, and in those that
  // were stated before.
  void BindSize(const tir::Var* var, IntRange range);

  struct LoopExtent {
    const PrimExpr* extent;
  };
  // A scope in which the condition holds, or does not hold. Scopes nest.
  class Assumption {
   public:
    Assumption(IndexRanges& ranges, const PrimExpr* condition, bool holds = true);
    // The body of a loop: it has an iteration.
    Assumption(IndexRanges& ranges, LoopExtent loop);
    ~Assumption() {
      ranges_.facts_.resize(facts_);
      ranges_.orders_.resize(orders_);
    }
    Assumption(const Assumption&) = delete;
    Assumption& operator=(const Assumption&) = delete;

   private:
    IndexRanges& ranges_;
    size_t facts_, orders_;
  };

  struct Known {
    IntRange range;
    const PrimExpr* end = nullptr;
    const PrimExpr* value = nullptr;  // of a binding
    uint32_t order = 0;               // the number of bindings before it; 0 for sizes
  };
  // Null if nothing is known about the variable.
  const Known* Find(const tir::Var* var) const { return vars_.Find(var); }
  // An order of two integers that a condition around the present place states.
  struct Order {
    const PrimExpr *less, *greater;
    bool is_strict;
  };
  const std::vector<Order>& orders() const { return orders_; }

 private:
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
  void AssumeAtLeast(const PrimExpr* expr, int64_t least, int& budget);
  void AddFact(const PrimExpr* expr, IntRange range);
  void AddOrder(const PrimExpr* less, const PrimExpr* greater, bool is_strict);

  LookupMap<const tir::Var*, Known> vars_;
  std::vector<Fact> facts_;
  std::vector<Order> orders_;
  uint32_t num_bindings_ = 0;
};

}  // namespace iropt::codegen
