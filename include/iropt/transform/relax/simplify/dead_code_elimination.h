// Removes what cannot be observed: bindings without uses or effects, and functions that nothing can call.
#pragma once

#include <span>
#include <string>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/pass/analysis.h"
#include "iropt/support/result.h"

namespace iropt {

// The function without its dead bindings; the same pointer where there are none. `module` says which functions are
// pure.
const Function* RemoveDeadBindings(const Function* function, const Module* module, Workspace& workspace);

// The module without the functions that neither those in `entry_functions` nor those visible from outside can reach,
// its graph-level functions without dead bindings. Fails where the module has no function of a name in
// `entry_functions`. `analyses` knows which functions others call, or learns it.
Result<Module> DeadCodeElimination(Module module, std::span<const std::string> entry_functions, int threads,
                                   DiagnosticEngine& diagnostics, AnalysisManager& analyses);

}  // namespace iropt
