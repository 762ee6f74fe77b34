// Operations on transform functions: composition, and freeing of weights.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

// The composition of `first` and `second`, which has one parameter. Null after an error: the result does not fit the
// parameter.
const Function* ComposeTransforms(const Function& first, const Function& second, const Module& module,
                                  Workspace& workspace, DiagnosticEngine& diagnostics);

// Lets the function free each item of its last parameter, a tuple, after taking it; the same pointer if there is
// nothing to free.
const Function* ConsumeParams(const Function& function, const Module& module, Workspace& workspace,
                              DiagnosticEngine& diagnostics);

}  // namespace iropt
