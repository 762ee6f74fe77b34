// What is done to functions that make weights ready: one after the other, and with less memory.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

// A function that gives `second` what `first` returns; `second` has one parameter. Null after an error: where the
// result is no such argument.
const Function* ComposeTransforms(const Function& first, const Function& second, const Module& module,
                                  Workspace& workspace, DiagnosticEngine& diagnostics);

// The function frees each item of its last parameter, a tuple, when it has taken it; the same pointer where there is
// nothing to free.
const Function* ConsumeParams(const Function& function, const Module& module, Workspace& workspace,
                              DiagnosticEngine& diagnostics);

}  // namespace iropt
