// Copies of statements that define variables and buffers of their own.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "iropt/ir/tir/mutator.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Says whether a copy defines the same variables and buffers as the statement, and may be the statement itself. A
// function must not define a variable or have a statement twice: of several copies, at most one keeps the definitions,
// and the others consist of new statements.
enum class OwnDefinitions : uint8_t { kKeep, kRenew };

class StmtCopier : private tir::StmtExprMutator {
 public:
  explicit StmtCopier(Workspace& workspace) : StmtExprMutator(workspace) {}

  using Value = std::pair<const tir::Var*, const PrimExpr*>;

  // A copy with values for variables. O(nodes).
  const tir::Stmt* Copy(const tir::Stmt* stmt, std::initializer_list<Value> values, OwnDefinitions definitions);
  // A copy that defines variables of its own. Buffers stay. O(nodes).
  const PrimExpr* Copy(const PrimExpr* expr);

 private:
  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override;
  const PrimExpr* VisitVar(const tir::Var* var) override;
  const tir::Var* VisitVarDef(const tir::Var* var) override;
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return CopyBuffer(buffer, renew_); }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return CopyBuffer(buffer, false); }
  const tir::Stmt* VisitBlock(const tir::Block* block) override;
  const tir::Stmt* VisitBufferRealize(const tir::BufferRealize* realize) override;

  // Another node if the statement did not change.
  const tir::Stmt* Renew(const tir::Stmt* visited, const tir::Stmt* original);
  // A variable that only a definition of a buffer defines.
  void Define(const PrimExpr* expr);
  const tir::Buffer* CopyBuffer(const tir::Buffer* buffer, bool is_definition);

  bool renew_ = false;
  LookupMap<const tir::Var*, const PrimExpr*> vars_;
  LookupMap<const tir::Buffer*, const tir::Buffer*> buffers_;
};

// The expression for a second place in a function: with variables of its own if it defines some. O(nodes).
const PrimExpr* CopyExpr(const PrimExpr* expr, Workspace& workspace);

}  // namespace iropt
