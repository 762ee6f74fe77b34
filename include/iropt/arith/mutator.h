// Rewriting TIR code with what is known where it stands. See ir/tir/mutator.h for rewriting without an analyzer.
#pragma once

#include <memory>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/tir/mutator.h"

namespace iropt::arith {

struct AnalyzerMutatorOptions {
  tir::MutatorOptions mutator = tir::kRewriteBuffers;
  // Branches and selections whose condition is constant after it was visited are replaced by the part that is taken.
  bool resolve_conditions = true;
};

// A mutator whose analyzer knows, at each place, the ranges of loops, threads and axes, the values of bound variables,
// and the conditions around it: those of branches, selections and assertions. The ranges of loops and axes end with
// them. Conditions hold as they are after they were visited.
//
//   class IndexSimplifier : public arith::StmtExprMutatorWithAnalyzer {
//    public:
//     using StmtExprMutatorWithAnalyzer::StmtExprMutatorWithAnalyzer;
//
//    protected:
//     const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override { ... analyzer().Simplify(index) ... }
//   };
class StmtExprMutatorWithAnalyzer : public tir::StmtExprMutator {
 public:
  // With an analyzer of its own, which knows that the shapes of the parameters' buffers are not negative.
  StmtExprMutatorWithAnalyzer(const PrimFunc& func, Workspace& workspace, AnalyzerMutatorOptions options = {});
  // The analyzer must outlive it.
  StmtExprMutatorWithAnalyzer(Analyzer& analyzer, Workspace& workspace, AnalyzerMutatorOptions options = {});

 protected:
  Analyzer& analyzer() { return analyzer_; }
  const PrimBuilder& make() const { return analyzer_.make(); }
  // The normal form of an index that is a map of the loops, threads and axes, where the conditions around it hold.
  const PrimExpr* SimplifyIndex(const PrimExpr* index);
  // Simplifies indices that are maps of the loops, threads and axes together, where the conditions around them hold. A
  // variable with a single value stays.
  std::vector<const PrimExpr*> SimplifyIndices(List<const PrimExpr*> indices);

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

  // Visits the branches, each where the condition, which was visited, holds or does not hold.
  virtual void VisitBranches(const PrimExpr* condition, tir::IfThenElse& branch);

  // visit() where the condition holds. Within an expression, memory does not change.
  template <class F>
  auto Where(const PrimExpr* condition, F&& visit, bool within_expression = false) {
    const Analyzer::Constraint constraint(analyzer_, condition, within_expression);
    return visit();
  }

 private:
  // Calls visit() where the condition holds, which also limits the iterators if it uses one.
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

  std::unique_ptr<Analyzer> own_;  // null if it is that of another one
  Analyzer& analyzer_;
  const bool resolve_conditions_;
  // The loops, threads and axes that were visited; variables are not bound twice.
  IterRanges iters_;
  bool iters_are_independent_ = true;  // no range depends on another iterator
  std::vector<const PrimExpr*> iter_conditions_;
};

}  // namespace iropt::arith
