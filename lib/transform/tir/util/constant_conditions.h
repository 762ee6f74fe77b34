// Looks for conditions that are constant, which arith::StmtExprMutatorWithAnalyzer resolves.
#pragma once

#include "iropt/ir/tir/stmt.h"

namespace iropt {

// Returns whether it is a branch with a constant condition.
bool HasConstantCondition(const tir::Stmt* stmt);
// Returns whether a condition of T.if_then_else or T.Select in the statement is constant. O(nodes).
bool HasConstantSelection(const tir::Stmt* stmt);

}  // namespace iropt
