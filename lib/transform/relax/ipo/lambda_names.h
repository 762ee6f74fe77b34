// Names for local functions that become functions of the module.
#pragma once

#include <optional>
#include <unordered_map>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

// The name of every local function of the module, each another one that the module does not have: that of its global
// symbol; the name of the function around it and that of its variable; the names of all variables on the way to it; or
// a number behind. Nothing where a global symbol is taken, which is an error. O(nodes).
using LambdaNames = std::unordered_map<const Function*, const GlobalVar*>;
std::optional<LambdaNames> NameLambdas(const Module& module, DiagnosticEngine& diagnostics);

}  // namespace iropt
