// The order of nodes.
#pragma once

#include "exchange/onnx/model.h"

namespace iropt::onnx {

// Puts the nodes of all graphs and functions into an order in which values are computed before they are used, as the
// standard wants it and not all writers do. Nodes that are in order stay as they are; those of a cycle keep their
// places at the end, where the importer reports them. O(nodes and their operands).
void SortNodes(Model& model);

}  // namespace iropt::onnx
