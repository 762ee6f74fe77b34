// Reads a Relay text into a graph.
#pragma once

#include <optional>
#include <string_view>

#include "graph.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt::relay {

// The functions of the text, whose first byte has the global offset `base`. After errors, which are reported, the graph
// holds what could be read. Linear in the text.
Graph ParseText(std::string_view text, uint32_t base, Workspace& workspace, DiagnosticEngine& diagnostics);

}  // namespace iropt::relay
