// Rewriting of dataflow blocks in which tensors are stored with their axes in another order than in the program.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "iropt/infer/layout_rules.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/support/arena.h"
#include "iropt/support/debug_output.h"

namespace iropt {

inline constexpr DebugChannel kLayoutDebug("layout");

// A letter for each axis, by its number.
inline constexpr std::string_view kAxisLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Returns whether layout rules support the operands: a tensor of known, small rank, a scalar, a shape, a tuple of
// these.
bool HasKnownRanks(const Call& call);

// Every variable of a dataflow block has a layout; null is that of the program. A subclass decides on the layouts of
// calls: it overrides VisitVarBinding. Uses for which it does not propagate layouts get the layout of the program.
class LayoutRewriter : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;
  // The number of conversions so far.
  uint64_t inserted() const { return inserted_; }

 protected:
  void VisitMatchCast(const MatchCast* binding) override;
  const Expr* VisitVar(const Var* var) override;
  // Tuples have the layouts of their fields.
  void VisitTupleBinding(const VarBinding* binding);
  void VisitItemBinding(const VarBinding* binding, const TupleGetItem& item);

  // Converts a tensor between two layouts that differ; the result must be normalized.
  virtual const Expr* ConvertItem(const Expr* item, const ValueLayout* from, const ValueLayout* to);
  // Converts a value between two layouts; the result must be normalized.
  const Expr* ConvertTo(const Expr* e, const ValueLayout* from, const ValueLayout* to);
  // Permutes the axes; by R.layout_transform if axes are split or joined.
  const Expr* Convert(const Expr* item, const AxisOrder& from, const AxisOrder& to);
  // Emits the tensor with `count` new axes in front.
  const Expr* ExpandDims(const Expr* e, int count);

  // The layout of an operand in A-normal form.
  const ValueLayout* LayoutOf(const Expr* e);
  void SetLayout(const Var* var, const ValueLayout* layout);
  // The operand with variables replaced, in its current layout.
  const Expr* Substitute(const Expr* e);
  // The call that the variable is bound to, with its operands, of these layouts, in those of the decision, or if that
  // is null in those of the program; normalized. Its type is inferred in any case: the variable may have a weaker one.
  const Expr* NewCall(const Call& call, const Var& var, std::span<const ValueLayout* const> layouts,
                      const LayoutCall* decision);
  Arena& arena() { return arena_; }

  // The order of the layout; with null, that of the program.
  static AxisOrder OrderOf(const ValueLayout* layout, const ValueLayout* other);

 private:
  // The type of a value of the program's type `type` that is stored in the layout; null if there is none.
  const Type* StoredType(const Type* type, const ValueLayout* layout);
  const Expr* Permute(const Expr* e, const AxisOrder& order);
  const Expr* Transform(const Expr* e, const AxisOrder& from, const AxisOrder& to);
  const Expr* WithInts(const Expr* arg, const std::vector<int64_t>& ints);

  uint64_t inserted_ = 0;
  Arena arena_;                              // of layouts
  std::vector<const ValueLayout*> layouts_;  // by Var::id
};

}  // namespace iropt
