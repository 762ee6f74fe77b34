// A-normal form: every operand is a leaf, every intermediate result has a variable, every expression has a type.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// The function in A-normal form; the same pointer if it is already. Fails if a type cannot be inferred. `module` gives
// the types of global functions.
Result<const Function*> Normalize(const Function* function, const Module* module, Workspace& workspace,
                                  DiagnosticEngine& diagnostics);

}  // namespace iropt
