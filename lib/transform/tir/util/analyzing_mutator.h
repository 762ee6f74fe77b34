// A mutator that knows what holds where it is: the ranges of loops, threads and axes, the values of bound variables,
// the conditions around it.
#pragma once

#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "transform/tir/util/loop_pass.h"

namespace iropt {

// The branches of a condition that is constant are resolved. The shapes of the parameters' buffers are not negative.
class AnalyzingMutator : public LoopMutator {
 public:
  AnalyzingMutator(const PrimFunc& func, Workspace& workspace);

 protected:
  arith::Analyzer& analyzer() { return analyzer_; }
  const arith::PrimBuilder& make() const { return analyzer_.make(); }
  // The normal form of an index that is a map of the loops, threads and axes, where the conditions around it hold.
  const PrimExpr* SimplifyIndex(const PrimExpr* index);

  const tir::Stmt* VisitFor(const tir::For* loop) override;
  const tir::Stmt* VisitBlock(const tir::Block* block) override;
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override;
  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* stmt) override;
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override;
  const tir::Stmt* VisitAssertStmt(const tir::AssertStmt* stmt) override;
  const PrimExpr* VisitCall(const tir::Call* call) override;
  const PrimExpr* VisitLet(const tir::Let* let) override;
  const PrimExpr* VisitSelect(const tir::Select* select) override;
  const PrimExpr* VisitReduce(const tir::Reduce* reduce) override;

 private:
  // visit() where the condition holds. Within an expression, memory does not change.
  template <class F>
  auto Where(const PrimExpr* condition, F&& visit, bool within_expression = false) {
    const arith::Analyzer::Constraint constraint(analyzer_, condition, within_expression);
    return visit();
  }
  // The same for a condition that limits the iterators.
  template <class F>
  auto WhereIters(const PrimExpr* condition, F&& visit, bool within_expression = false) {
    const bool limits = UsesIter(condition);
    if (limits) iter_conditions_.push_back(condition);
    auto result = Where(condition, visit, within_expression);
    if (limits) iter_conditions_.pop_back();
    return result;
  }
  void BindRange(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent);
  void BindRange(const tir::IterVar& axis);
  bool UsesIter(const PrimExpr* expr) const;

  arith::Analyzer analyzer_;
  // The loops, threads and axes that were visited; variables are not bound twice.
  arith::IterRanges iters_;
  bool iters_are_independent_ = true;  // no range depends on another iterator
  std::vector<const PrimExpr*> iter_conditions_;
};

// Whether it is a branch with a constant condition.
bool HasConstantCondition(const tir::Stmt* stmt);
// Whether a condition of T.if_then_else or T.Select in the statement is constant. O(nodes).
bool HasConstantSelection(const tir::Stmt* stmt);

}  // namespace iropt
