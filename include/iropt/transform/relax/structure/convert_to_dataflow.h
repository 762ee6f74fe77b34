// Puts bindings without effects into dataflow blocks.
#pragma once

#include <cstdint>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// Puts every sequence of at least `min_size` bindings that are allowed in a dataflow block into one, then canonicalizes
// the function (see canonicalize_bindings.h); the same pointer if nothing changes. `module` provides the purity of
// functions.
Result<const Function*> ConvertToDataflow(const Function* function, const Module* module, Workspace& workspace,
                                          DiagnosticEngine& diagnostics, int64_t min_size = 2);

}  // namespace iropt
