// From the graph of a Relay text to a module of Relax.
#pragma once

#include <memory>

#include "graph.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt::relay {

// Functions come in the order of the text. The graph's nodes live in `storage`, which the functions keep alive. Errors
// are reported; the module is then incomplete.
Module Translate(const Graph& graph, const FuncStorageRef& storage, DiagnosticEngine& diagnostics);

}  // namespace iropt::relay
