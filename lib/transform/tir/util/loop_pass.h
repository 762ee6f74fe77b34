// What passes over PrimFuncs share.
#pragma once

#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/pass.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// Whether the condition holds for the statement or for one in it. A pass asks first what it need not walk through in
// vain: expressions are not visited. O(statements).
bool AnyStmt(const tir::Stmt* stmt, FunctionRef<bool(const tir::Stmt*)> holds);

// A pass that leaves functions alone that are marked as made by the older scheduler (the attribute
// from_legacy_te_schedule), whose code has other conventions.
Pass CreateLoopPass(const PassInfo& info, PrimFuncPassFn run);

// True as a condition.
inline const PrimExpr* True(Workspace& workspace) { return workspace.New<tir::IntImm>(DataType::Bool(), 1); }

}  // namespace iropt
