// The state of functions that passes need which make calls with side effects.
#pragma once

#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// After `pass` made `result`: an error that names the pass to run before it, if a call with side effects is in a pure
// function whose calls are checked, or in a dataflow block. The calls that the input has itself were accepted.
// O(nodes), unless dataflow blocks are nested in conditionals of others.
Status CheckImpureCallsAllowed(const Function& result, const Module& module, std::string_view pass,
                               DiagnosticEngine& diagnostics);

}  // namespace iropt
