// Replacing calls by calls of PrimFuncs that are made of tensor expressions.
#pragma once

#include <functional>

#include "iropt/legalize/legalize.h"
#include "iropt/support/result.h"

namespace iropt {

// The expression that replaces a call, whose operands have been visited; the call itself to keep it, null after an
// error was reported.
using ReplaceCall = std::function<const Expr*(LegalizeCall&)>;

// The module with the calls of all Relax functions replaced, in the order of their names, which decides about the names
// of the PrimFuncs. O(nodes of the functions and of the PrimFuncs).
Result<Module> ReplaceByPrimFuncs(Module module, const ReplaceCall& replace, DiagnosticEngine& diagnostics);

// Returns whether the shapes of all operands, which are tensors, are known.
bool HasTensorsOfKnownShape(const Call& call);

}  // namespace iropt
