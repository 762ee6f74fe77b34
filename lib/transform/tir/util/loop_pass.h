// What the passes over PrimFuncs share: the mutator that they derive from, and their creation.
#pragma once

#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/var_map.h"
#include "iropt/pass/pass.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// A mutator that also rewrites the shapes, strides, offsets and data variables of buffers: a buffer in which a variable
// is replaced becomes another one, the same for all its uses. Each buffer is visited once. T.evaluate(0), which
// computes nothing, is removed from sequences.
class LoopMutator : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitSeqStmt(const tir::SeqStmt* stmt) override;
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return RewriteBuffer(buffer); }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return RewriteBuffer(buffer); }
  const tir::Buffer* RewriteBuffer(const tir::Buffer* buffer);

 private:
  VarMap<tir::Buffer> seen_;
};

// A sequence without sequences and without T.evaluate(0) in it; T.evaluate(0) if nothing remains.
const tir::Stmt* MakeFlatSeq(Workspace& workspace, std::span<const tir::Stmt* const> stmts);

// The function with this body; the same pointer if it has it already.
const PrimFunc* WithBody(const PrimFunc* func, const tir::Stmt* body, Workspace& workspace);

// Whether the condition holds for the statement or for one in it. A pass asks first what it need not walk through in
// vain: expressions are not visited. O(statements).
bool AnyStmt(const tir::Stmt* stmt, FunctionRef<bool(const tir::Stmt*)> holds);

// Whether it is a sequence with T.evaluate(0) in it, which a LoopMutator changes whatever else it does.
bool HasNoOps(const tir::Stmt* stmt);

// A pass that leaves functions alone that are marked as made by the older scheduler (the attribute
// from_legacy_te_schedule), whose code has other conventions.
Pass CreateLoopPass(const PassInfo& info, PrimFuncPassFn run);

// True as a condition.
inline const PrimExpr* True(Workspace& workspace) { return workspace.New<tir::IntImm>(DataType::Bool(), 1); }

}  // namespace iropt
