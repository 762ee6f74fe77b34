// Bounds of the value of an integer expression: an interval, and a residue class.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "iropt/arith/fact_table.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/support/lookup.h"

namespace iropt::arith {

// A closed interval; kPosInf and kNegInf stand for "unbounded". Both are bounds of every signed integer, so they may be
// compared as numbers; an unsigned integer of 64 bits may be greater than kPosInf.
struct IntBound {
  static constexpr int64_t kPosInf = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kNegInf = std::numeric_limits<int64_t>::min();
  int64_t min = kNegInf;
  int64_t max = kPosInf;

  bool is_const() const { return min == max; }
  friend bool operator==(IntBound, IntBound) = default;
  // Every value of the dtype.
  static IntBound Everything(DataType dtype);
  IntBound Union(IntBound other) const { return {std::min(min, other.min), std::max(max, other.max)}; }
  IntBound Intersect(IntBound other) const { return {std::max(min, other.min), std::min(max, other.max)}; }
};

// The integers that are congruent to `base` modulo `coeff`; coeff 0 is the one integer `base`.
struct ModularSet {
  int64_t coeff = 1;
  int64_t base = 0;
  friend bool operator==(ModularSet, ModularSet) = default;
  // The common members; this set if there are none, or if the coefficient of theirs exceeds 64 bits.
  ModularSet Intersect(ModularSet other) const;
};

// Bounds and residue classes of expressions from those of their variables. Divisors are assumed not to be zero (a
// program that divides by zero has no meaning to preserve), and index arithmetic not to overflow.
class BoundAnalyzer {
 public:
  // With `sym_vars_nonnegative`, symbolic variables (owned by the context) are sizes.
  explicit BoundAnalyzer(bool sym_vars_nonnegative) : sym_vars_nonnegative_(sym_vars_nonnegative) {}

  IntBound Bound(const PrimExpr* e) const;
  ModularSet Modular(const PrimExpr* e) const;

  void SetBound(const tir::Var* var, IntBound bound) {
    var_bounds_[var] = bound;
    DropCaches();
  }
  void SetModular(const tir::Var* var, ModularSet set) {
    var_modular_[var] = set;
    DropCaches();
  }
  void Forget(const tir::Var* var) {
    var_bounds_.erase(var);
    var_modular_.erase(var);
    DropCaches();
  }

  // Facts about whole expressions, from conditions that hold in the current scope.
  size_t num_facts() const { return facts_.size(); }
  // A later fact about an expression includes the earlier ones.
  void AddFact(const PrimExpr* e, IntBound bound);
  void DropFacts(size_t keep) {
    if (keep != facts_.size()) DropCaches();
    facts_.Resize(keep);
  }

 private:
  // Results by node; valid as long as no fact about variables is added. Rewriting asks for the bounds of an expression
  // and then of every expression that contains it.
  template <class T>
  class Cache {
   public:
    // Null if there is no result for the node.
    const T* Find(const PrimExpr* e) const {
      const auto* it = found_.Find(e);
      return !it || it->epoch != epoch_ ? nullptr : &it->value;
    }
    void Keep(const PrimExpr* e, const T& value) { found_.insert_or_assign(e, Entry{value, epoch_}); }
    // O(1): invalidates the results.
    void Clear() { ++epoch_; }

   private:
    struct Entry {
      T value;
      size_t epoch;
    };
    LookupMap<const PrimExpr*, Entry> found_;
    size_t epoch_ = 0;
  };
  void DropCaches() const {
    bounds_.Clear();
    residues_.Clear();
  }
  IntBound UncachedBound(const PrimExpr* e) const;
  ModularSet UncachedModular(const PrimExpr* e) const;
  IntBound BoundOf(const PrimExpr* e) const;
  IntBound BoundOfBinary(const tir::BinaryExpr* e) const;
  IntBound BoundOfVar(const tir::Var* var) const;
  IntBound BoundOfCall(const tir::Call* call) const;
  IntBound BoundOfCast(const tir::Cast* cast) const;
  std::optional<IntBound> BoundOfCeilLog2(const PrimExpr* e) const;
  IntBound BoundOfLet(const tir::Let* let) const;
  ModularSet ModularOfBinary(const tir::BinaryExpr* e) const;
  ModularSet ExactModularOfBinary(const tir::BinaryExpr* e) const;
  ModularSet ModularOfCast(const tir::Cast* cast) const;
  ModularSet ModularOfCall(const tir::Call* call) const;
  ModularSet ModularOfLet(const tir::Let* let) const;
  ModularSet DivideModular(const PrimExpr* a, int64_t divisor, bool rounds_down) const;
  ModularSet ReduceModular(const PrimExpr* a, int64_t divisor, bool rounds_down) const;

  bool sym_vars_nonnegative_;
  // The variable of a Let has its entry while the body is looked at.
  mutable LookupMap<const tir::Var*, IntBound> var_bounds_;
  mutable LookupMap<const tir::Var*, ModularSet> var_modular_;
  FactTable<IntBound> facts_;
  mutable Cache<IntBound> bounds_;
  mutable Cache<ModularSet> residues_;
};

}  // namespace iropt::arith
