// Names for local functions that become functions of the module.
#pragma once

#include <optional>
#include <unordered_map>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

// A distinct unused name for every local function of the module: its global symbol; the name of the function around it
// and that of its variable; the names of all variables on the path to it; or such a name and a number. Nothing if a
// global symbol is taken, which is an error. O(nodes).
using LambdaNames = std::unordered_map<const Function*, const GlobalVar*>;
std::optional<LambdaNames> NameLambdas(const Module& module, DiagnosticEngine& diagnostics);

}  // namespace iropt
