// Replacing variables in TIR code. For types and their dimensions see iropt/ir/substitute.h.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/lookup.h"

namespace iropt::tir {

// The replacement of a variable; null: it stays.
using VarValue = FunctionRef<const PrimExpr*(const Var*)>;
// The replacements of variables.
using VarValues = LookupMap<const Var*, const PrimExpr*>;

// Replaces the uses of variables, all at once: values are not substituted again. Unchanged nodes stay the same. A
// buffer whose shape, strides, offset or data variable changes becomes another one, the same for all its uses.
// Definitions inside stay, and nothing is simplified. O(nodes).
const PrimExpr* Substitute(const PrimExpr* expr, VarValue value, Workspace& workspace);
const Stmt* Substitute(const Stmt* stmt, VarValue value, Workspace& workspace);
const Range* Substitute(const Range* range, VarValue value, Workspace& workspace);
const BufferRegion* Substitute(const BufferRegion* region, VarValue value, Workspace& workspace);
// Replace the variables that the table has by its values: Substitute(expr, {{var, value}}, workspace).
const PrimExpr* Substitute(const PrimExpr* expr, const VarValues& values, Workspace& workspace);
const Stmt* Substitute(const Stmt* stmt, const VarValues& values, Workspace& workspace);
const Range* Substitute(const Range* range, const VarValues& values, Workspace& workspace);
const BufferRegion* Substitute(const BufferRegion* region, const VarValues& values, Workspace& workspace);

}  // namespace iropt::tir
