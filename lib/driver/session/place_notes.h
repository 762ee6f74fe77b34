// Errors about a module that a pass made. Their places are in the text of the input, where the program may be another
// one.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

// Reports the diagnostics about the module, each with a note that shows the binding or the statement that it is about
// as it is now.
void ReportWithPlaces(const DiagnosticBuffer& found, const Module& module, DiagnosticEngine& diagnostics);

}  // namespace iropt
