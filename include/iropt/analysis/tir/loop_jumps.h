// Statements that leave others before their end: T.break_loop and T.continue_loop the body of the innermost loop around
// them, T.ret the function.
#pragma once

#include "iropt/ir/tir/stmt.h"

namespace iropt {

// Returns whether the statement is one of them.
bool IsLoopJump(const tir::Stmt& stmt);
// Returns whether the body of a loop has one that ends this loop or an iteration of it. Such a loop can be neither
// unrolled nor divided, and its iterations cannot run at the same time. O(statements).
bool HasLoopJumps(const tir::Stmt* body);
// Returns whether the body of a function has a T.ret, after which statements that follow the body do not run. O(nodes).
bool HasReturns(const tir::Stmt* body);

}  // namespace iropt
