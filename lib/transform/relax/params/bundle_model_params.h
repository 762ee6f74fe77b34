// The parameters of a function that are weights as one tuple.
#pragma once

#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

// The function with a tuple of the name in the place of all parameters behind the first `num_inputs` ones. O(nodes).
const Function* BundleParams(const Function& function, uint32_t num_inputs, std::string_view name, const Module& module,
                             Workspace& workspace, DiagnosticEngine& diagnostics);

}  // namespace iropt
