// Outputs that nothing uses.
#pragma once

#include "exchange/onnx/model.h"

namespace iropt::onnx {

// Leaves out the optional outputs of nodes that nothing uses, such as masks of Dropout, where the node is a plain
// operator without them. O(nodes and their operands).
void RemoveUnusedOutputs(Model& model);

}  // namespace iropt::onnx
