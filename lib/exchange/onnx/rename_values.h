// Other names for the values of a graph.
#pragma once

#include <string_view>

#include "exchange/onnx/model.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

using Renames = LookupMap<std::string_view, std::string_view>;

// Gives values other names wherever these are, in graphs that are attributes, too. O(size of the graph).
void RenameValues(const Renames& renames, GraphProto& graph);

}  // namespace iropt::onnx
