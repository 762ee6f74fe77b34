// Copies of statements that define variables and buffers of their own.
#pragma once

#include <initializer_list>
#include <utility>

#include "iropt/ir/tir/mutator.h"
#include "iropt/support/lookup.h"

namespace iropt {

// A function must not define a variable twice: a statement that is repeated defines others in each copy.
class StmtCopier : private tir::StmtExprMutator {
 public:
  explicit StmtCopier(Workspace& workspace) : StmtExprMutator(workspace) {}

  using Value = std::pair<const tir::Var*, const PrimExpr*>;

  // A copy with values for variables. The first one keeps the definitions of the statement. O(nodes).
  const tir::Stmt* Copy(const tir::Stmt* stmt, std::initializer_list<Value> values, bool is_first);

 private:
  const PrimExpr* VisitVar(const tir::Var* var) override;
  const tir::Var* VisitVarDef(const tir::Var* var) override;
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return CopyBuffer(buffer, renew_); }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return CopyBuffer(buffer, false); }
  const tir::Stmt* VisitBlock(const tir::Block* block) override;
  const tir::Stmt* VisitBufferRealize(const tir::BufferRealize* realize) override;

  // A variable that only a definition of a buffer defines.
  void Define(const PrimExpr* expr);
  const tir::Buffer* CopyBuffer(const tir::Buffer* buffer, bool is_definition);
  bool CopyAll(List<const PrimExpr*>& exprs);

  bool renew_ = false;
  LookupMap<const tir::Var*, const PrimExpr*> vars_;
  LookupMap<const tir::Buffer*, const tir::Buffer*> buffers_;
};

}  // namespace iropt
