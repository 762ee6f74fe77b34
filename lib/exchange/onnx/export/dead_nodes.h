// Nodes and initializers that nothing uses.
#pragma once

#include "exchange/onnx/export/export.h"

namespace iropt::onnx {

// Removes nodes none of whose outputs is used, in graphs that are attributes, too, and then the types and initializers
// that only these had. A fused node, or a shape that is taken from a tensor, leaves such nodes behind. The names in the
// model must be unique. O(nodes + their inputs and outputs).
void RemoveDeadNodes(ExportedModel& model);

}  // namespace iropt::onnx
