// Uses of variables of a table.
#pragma once

#include "iropt/ir/tir/visitor.h"

namespace iropt::tir {

// Returns whether one of the variables, a table with a function contains(), is used under the expression. Ends at the
// first one.
template <class Table>
bool UsesAnyOf(const Table& vars, const PrimExpr* expr) {
  return UsesVar(expr, [&vars](const Var* var) { return vars.contains(var); });
}

}  // namespace iropt::tir
