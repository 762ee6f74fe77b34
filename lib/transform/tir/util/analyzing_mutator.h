// A mutator that knows what holds where it is: the ranges of loops, threads and axes, the values of bound variables,
// the conditions around it.
#pragma once

#include "iropt/arith/analyzer.h"
#include "transform/tir/util/loop_pass.h"

namespace iropt {

// The branches of a condition that is constant are resolved. The shapes of the parameters' buffers are not negative.
class AnalyzingMutator : public LoopMutator {
 public:
  AnalyzingMutator(const PrimFunc& func, Workspace& workspace);

 protected:
  arith::Analyzer& analyzer() { return analyzer_; }
  const arith::PrimBuilder& make() const { return analyzer_.make(); }

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
  // visit() where the condition holds.
  template <class F>
  auto Where(const PrimExpr* condition, F&& visit) {
    const arith::Analyzer::Constraint constraint(analyzer_, condition);
    return visit();
  }
  void BindRange(const tir::IterVar& axis);

  arith::Analyzer analyzer_;
};

}  // namespace iropt
