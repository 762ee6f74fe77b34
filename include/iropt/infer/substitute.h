// Substitution in Relax functions: of symbolic variables and of parameters. See ir/substitute.h for types, attributes
// and scalar expressions.
#pragma once

#include <span>
#include <utility>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/substitute.h"

namespace iropt {

using BoundParam = std::pair<const Var*, const Expr*>;

// Replaces symbolic variables by values, and parameters by expressions, which are leaves; the function no longer has
// these parameters. Dimensions in which a variable was replaced are simplified, and types are inferred again. The same
// pointer if nothing changes, null after an error was reported. O(nodes).
const Function* Substitute(const Function* function, const SymVarMap& symbolic, std::span<const BoundParam> params,
                           const Module* module, Workspace& workspace, DiagnosticEngine& diagnostics);

}  // namespace iropt
