// Values in place of variables.
#pragma once

#include <span>
#include <utility>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/substitute.h"

namespace iropt {

using BoundParam = std::pair<const Var*, const Expr*>;

// The function with values in place of symbolic variables, simplified where they stand, and with expressions, leaves,
// in place of some of its parameters, which it has no longer. The same pointer where nothing changes, null after an
// error. O(nodes).
const Function* BindVariables(const Function* function, const SymVarMap& symbolic, std::span<const BoundParam> params,
                              const Module* module, Workspace& workspace, DiagnosticEngine& diagnostics);

}  // namespace iropt
