// Whether a statement can write its result over one of its operands.
#pragma once

#include "iropt/ir/tir/stmt.h"

namespace iropt {

// Returns whether the statement reads an element of `source` only to store the same element of `target`, and `target`
// not at all, so that both can share their memory. Loops that store an element again and again are refused if no
// condition depends on their variables. O(nodes).
bool CanRunInPlace(const tir::Stmt* stmt, const tir::Var* target, const tir::Var* source);

}  // namespace iropt
