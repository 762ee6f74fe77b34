// The loops that tir.LoopPartition may split, and the conditions that it may decide.
#pragma once

#include <vector>

#include "iropt/arith/int_set.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Selects loops, and launches of blocks of threads, that may be split: those with a hint, and those on whose variable a
// condition in T.likely depends. Loops with constant bounds only if `constant_loops`.
class PartitionCandidates : private tir::StmtExprVisitor {
 public:
  PartitionCandidates(bool constant_loops, TextVersion version) : constant_loops_(constant_loops), version_(version) {}

  // Adds those under the statement. O(nodes).
  void Select(const tir::Stmt* stmt) { VisitStmt(stmt); }
  bool IsSelected(const tir::Stmt* stmt) const { return selected_.contains(stmt); }

  bool HasHint(const tir::Var* var) const { return hinted_.contains(var); }
  void AddHint(const tir::Var* var) { hinted_.insert(var); }

 private:
  using StmtExprVisitor::VisitExpr;

  bool IsChosen(const tir::Var* var) const;
  void VisitFor(const tir::For* loop) override;
  void VisitAttrStmt(const tir::AttrStmt* stmt) override;
  void VisitSeqStmt(const tir::SeqStmt* seq) override;
  void VisitCall(const tir::Call* call) override;
  void VisitVar(const tir::Var* var) override;

  // visit(), which visits the body, and selects the statement if that is worth it.
  template <class F>
  void SelectIf(const tir::Stmt* stmt, const tir::Var* var, F&& visit);

  const bool constant_loops_;
  const TextVersion version_;
  bool in_likely_ = false;
  bool has_allreduce_ = false;  // all threads must reach it together
  LookupSet<const tir::Stmt*> selected_;
  LookupSet<const tir::Var*> hinted_;
  LookupSet<const tir::Var*> open_;          // variables of the loops around
  LookupSet<const tir::Var*> in_condition_;  // those of them that occur in a condition
};

// The values of a loop variable for which a condition in the loop is known to hold, or not to hold.
struct DecidedCondition {
  const PrimExpr* condition;
  bool holds;
  arith::IntervalSet interval;
};

// Those of the conditions in T.likely in the body of a loop; with `all_comparisons`, of all comparisons. `hints` and
// `relax` are the sets of the variables around it, see DeduceBound. Intervals that cannot be evaluated before the loop
// are left out. O(nodes), apart from the deduction.
std::vector<DecidedCondition> FindDecidedConditions(const tir::Stmt* body, const tir::Var* var, bool all_comparisons,
                                                    arith::VarDomains hints, arith::VarDomains relax,
                                                    arith::Analyzer& analyzer);

}  // namespace iropt
