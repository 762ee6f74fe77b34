// Puts bindings without effects into dataflow blocks.
#pragma once

#include <cstdint>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// The function with every run of at least `min_size` bindings that may stand in a dataflow block in one, and then in
// canonical form (see canonicalize_bindings.h); the same pointer where it is. `module` says which functions are pure.
Result<const Function*> ConvertToDataflow(const Function* function, const Module* module, Workspace& workspace,
                                          DiagnosticEngine& diagnostics, int64_t min_size = 2);

}  // namespace iropt
