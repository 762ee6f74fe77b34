// Removes dead code: bindings without uses or effects, and unreachable functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/pass/analysis.h"
#include "iropt/support/result.h"

namespace iropt {

// The function without its dead bindings; the same pointer if there are none. `module` provides the purity of
// functions.
// Adds the number of removed bindings to `removed` unless that is null.
const Function* RemoveDeadBindings(const Function* function, const Module* module, Workspace& workspace,
                                   uint64_t* removed = nullptr);

// The module without dead bindings in Relax functions, and without functions that cannot be reached from those in
// `entry_functions` or from public ones. Fails if the module has no function of a name in `entry_functions`, which it
// reports at `names_span`. `analyses` caches the called functions.
Result<Module> DeadCodeElimination(Module module, std::span<const std::string> entry_functions, int threads,
                                   DiagnosticEngine& diagnostics, AnalysisManager& analyses,
                                   SourceSpan names_span = {});

}  // namespace iropt
