// Conditions that are constant, and looking for those that arith::StmtExprMutatorWithAnalyzer resolves.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// True as a condition.
inline const PrimExpr* True(Workspace& workspace) { return workspace.New<tir::IntImm>(DataType::Bool(), 1); }

// Returns whether it is a branch with a constant condition.
bool HasConstantCondition(const tir::Stmt* stmt);
// Returns whether a condition of T.if_then_else or T.Select in the statement is constant. O(nodes).
bool HasConstantSelection(const tir::Stmt* stmt);

}  // namespace iropt
