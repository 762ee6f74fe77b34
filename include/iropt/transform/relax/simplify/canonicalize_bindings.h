// Canonicalizes bindings: no aliases, no match_cast that is known to hold, as few outputs as possible.
#pragma once

#include <cstdint>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// The function in canonical form; the same pointer if it is already. Fails if two match_casts contradict each other.
// `module` gives the types of global functions.
// Adds the number of removed bindings to `removed` unless that is null.
Result<const Function*> CanonicalizeBindings(const Function* function, const Module* module, Workspace& workspace,
                                             DiagnosticEngine& diagnostics, uint64_t* removed = nullptr);

}  // namespace iropt
