// Inferring the types of code again.
#pragma once

#include <functional>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// The new type of a parameter of a function, or null if it stays.
using ParamTypeFn = std::function<const Type*(const Var* param)>;

// The function with the types of all expressions, variables and results inferred from those of its parameters, some of
// which `param_type` replaces. Annotations are ignored, so they may be stale; match_casts are not. Callees have the
// types in the module. The same pointer if nothing changes. O(nodes).
Result<const Function*> InferTypes(const Function* function, const ParamTypeFn& param_type, const Module& module,
                                   Workspace& workspace, DiagnosticEngine& diagnostics);

// Infers the types of all Relax functions of a module, callees first, so that callers see their new result types.
// Mutually recursive functions see the declared types.
Result<Module> InferTypes(Module module, DiagnosticEngine& diagnostics);

}  // namespace iropt
