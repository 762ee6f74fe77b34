// Statements that the passes of this topic make or look for.
#pragma once

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/mutator.h"

namespace iropt {

inline const tir::Stmt* NoOp(Workspace& workspace) {
  return workspace.New<tir::Evaluate>(arith::PrimBuilder(workspace.arena()).Int(0, DataType::Int(32)));
}

// T.evaluate(0).
inline bool IsNoOp(const tir::Stmt* stmt) {
  const auto* evaluate = As<tir::Evaluate>(stmt);
  return evaluate && arith::IsInt(evaluate->value, 0);
}

// A mutator that drops statements without an effect from sequences, as TVM's do.
class SeqMutator : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitSeqStmt(const tir::SeqStmt* seq) override {
    std::vector<const tir::Stmt*> stmts;
    bool same = true;
    for (const tir::Stmt* stmt : seq->seq) {
      const tir::Stmt* visited = VisitStmt(stmt);
      same &= visited == stmt && !IsNoOp(visited);
      if (!IsNoOp(visited)) stmts.push_back(visited);
    }
    if (same) return seq;
    return stmts.empty() ? NoOp(workspace()) : Sequence(stmts);
  }
};

}  // namespace iropt
