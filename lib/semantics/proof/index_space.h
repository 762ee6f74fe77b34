// The variables that stand for indices, and the simplification of indices.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/arith/smt_script.h"
#include "iropt/ir/substitute.h"
#include "iropt/support/lookup.h"
#include "semantics/proof/terms.h"

namespace iropt::proof {

// Conditions that hold for the sizes, and how much Z3 may work for one question about indices; 0: it is not asked.
struct Assumptions {
  std::vector<const PrimExpr*> conditions = {};
  uint64_t solver_limit = 0;
};

class IndexSpace {
 public:
  explicit IndexSpace(Assumptions assumptions = {});

  struct Place {
    bool is_reduction;
    size_t number;
    const PrimExpr* extent;
  };

  // The index in this dimension of a tensor, or of a reduction: 0 if the dimension is 1.
  const PrimExpr* Index(size_t dimension, const PrimExpr* extent) { return Get(false, dimension, extent); }
  const PrimExpr* Reduction(size_t dimension, const PrimExpr* extent) { return Get(true, dimension, extent); }
  // The number of places in tensors of unknown shape.
  const PrimExpr* NumPlaces();
  // The place of a variable that Index or Reduction made, or null.
  const Place* PlaceOf(const PrimExpr* var) const { return places_.Find(var); }

  // The order of the variables of a term: those of its dimensions, then those of its reduction.
  bool IsBefore(const PrimExpr* a, const PrimExpr* b) const;
  // Returns whether they are distinct variables in that order.
  bool AreInOrder(const Dims& indices) const;

  // The normal form.
  const PrimExpr* Simplify(const PrimExpr* expr);
  // The same expression for equal dimensions.
  const PrimExpr* Dimension(const PrimExpr* dim);
  const PrimExpr* Substitute(const PrimExpr* expr, const SymVarMap& map);
  bool UsesReduction(const PrimExpr* expr) { return !VarsOf(expr).empty() && Flags(expr); }
  // The variables of indices and reductions in the expression, in the order of their first use.
  const std::vector<const PrimExpr*>& VarsOf(const PrimExpr* expr);
  bool IsEqual(const PrimExpr* a, const PrimExpr* b);
  bool AreEqual(const Dims& a, const Dims& b);
  // Asserts what is assumed, and the ranges of the variables in an expression.
  void Assume(const PrimExpr* expr, arith::SmtScript& script);
  bool has_conditions() const { return !assumptions_.conditions.empty(); }
  // Returns whether the condition is known to hold where the other one does, which may be null.
  bool Follows(const PrimExpr* condition, const PrimExpr* given);
  arith::IntBound BoundOf(const PrimExpr* expr) { return analyzer_.Bound(expr); }
  // The quotient and the remainder of an index by a size, without divisions if it is a sum of multiples of the size and
  // of a number that is less.
  std::pair<const PrimExpr*, const PrimExpr*> Divide(const PrimExpr* index, const PrimExpr* size);
  // Returns whether 0 <= index < size is known to hold, where the condition holds, which may be null.
  bool IsWithin(const PrimExpr* index, const PrimExpr* size, const PrimExpr* given);
  // Finds the values of the variables, which have these extents, for which the indices are the outputs. False if there
  // may be several, or the indices are too general.
  bool Invert(const Dims& indices, const Dims& outputs, const Dims& vars, const Dims& extents, SymVarMap& values);
  // Nothing if it is not known whether the condition holds.
  std::optional<bool> Decide(const PrimExpr* condition);

  // Both conditions; one may be null.
  const PrimExpr* And(const PrimExpr* a, const PrimExpr* b) const;
  // 0 <= index < extent.
  const PrimExpr* RangeOf(const PrimExpr* index, const PrimExpr* extent) const;
  const PrimExpr* Int(int64_t value) const { return make_.Int(value); }
  const PrimExpr* Wide(const PrimExpr* expr) const { return make_.Cast(DataType::Int(64), expr); }
  const arith::PrimBuilder& make() const { return make_; }

  // While it lives, these sizes are not 0: what is computed is only used where there are elements.
  class NonEmpty {
   public:
    NonEmpty(IndexSpace& space, const Dims& sizes);
    ~NonEmpty();
    NonEmpty(const NonEmpty&) = delete;
    NonEmpty& operator=(const NonEmpty&) = delete;

   private:
    IndexSpace& space_;
    std::optional<arith::Analyzer::Constraint> constraint_;
  };

 private:
  const PrimExpr* Get(bool is_reduction, size_t dimension, const PrimExpr* extent);
  bool Flags(const PrimExpr* expr);
  // Returns whether Z3 proves the condition.
  bool Proves(const PrimExpr* condition);
  // The same for one index that is a sum of digits, each with a product of sizes.
  bool InvertDigits(const Dims& indices, const Dims& outputs, const Dims& vars, const Dims& extents, SymVarMap& values);
  bool AreSamePolynomials(const PrimExpr* a, const PrimExpr* b);
  // An upper bound in which no variables of indices are; null if none is found.
  const PrimExpr* MostOf(const PrimExpr* index);
  // Chooses between the operands of minima, maxima and selections that are assumed to have an order.
  const PrimExpr* Resolve(const PrimExpr* expr);

  const Assumptions assumptions_;
  arith::PrimBuilder make_;
  arith::Analyzer analyzer_;
  std::optional<arith::Analyzer::Constraint> constraint_;
  std::map<std::tuple<bool, size_t, const PrimExpr*>, const tir::Var*> vars_;
  LookupMap<const PrimExpr*, Place> places_;
  LookupMap<const PrimExpr*, const PrimExpr*> simplified_;
  LookupMap<const PrimExpr*, std::vector<const PrimExpr*>> vars_of_;
  LookupMap<const PrimExpr*, bool> proved_;
  std::vector<const PrimExpr*> dimensions_;
  const PrimExpr* num_places_ = nullptr;
};

}  // namespace iropt::proof
