// Accesses with a predicate instead of a condition around them.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// The statement with the condition as the predicate of all of its accesses; null if they do not all start at the left
// side of the condition, which is a ramp that is less than a limit. O(nodes).
const tir::Stmt* PredicateAccesses(const tir::Stmt* stmt, const PrimExpr* condition, Workspace& workspace);

}  // namespace iropt
