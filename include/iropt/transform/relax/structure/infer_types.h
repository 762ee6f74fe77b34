// Inferring the types of code anew.
#pragma once

#include <functional>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// The type that a parameter of a function is to have, or null where it stays as it is.
using ParamTypeFn = std::function<const Type*(const Var* param)>;

// The function with the types of all expressions, variables and results inferred from those of its parameters, to which
// `param_type` gives new ones. Annotations do not count, so stale ones do no harm; match_casts do. Callees have the
// types that the module says. The same pointer where nothing changes. O(nodes).
Result<const Function*> InferTypes(const Function* function, const ParamTypeFn& param_type, const Module& module,
                                   Workspace& workspace, DiagnosticEngine& diagnostics);

// The same for all graph-level functions of a module, callees first, so that callers learn of their results. Functions
// that call each other know of each other what they declare.
Result<Module> InferTypes(Module module, DiagnosticEngine& diagnostics);

}  // namespace iropt
