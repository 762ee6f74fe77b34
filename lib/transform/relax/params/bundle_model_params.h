// Bundling the weight parameters of a function into one tuple.
#pragma once

#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

// The function with one tuple parameter of this name instead of all parameters after the first `num_inputs`. O(nodes).
const Function* BundleParams(const Function& function, uint32_t num_inputs, std::string_view name, const Module& module,
                             Workspace& workspace, DiagnosticEngine& diagnostics);

}  // namespace iropt
