// Initializers of the graphs that nodes have.
#pragma once

#include "exchange/onnx/export/export.h"

namespace iropt::onnx {

// Moves initializers that are outputs of a graph of a node into it if nothing else uses them: they need no node to copy
// them then. From version 4 of the IR on. Those in other files stay.
void MoveOutputsInward(ExportedModel& exported);

// Moves weights of at most 8 bits, with their scales and zero points, into the graphs of nodes that dequantize them:
// onnxruntime looks for them there, and refuses others or takes their zero points as 0. Those of several graphs are
// copied as far as the input had as many bytes in its inner graphs. From version 4 of the IR on, after tensors moved to
// other files. O(nodes + their inputs).
void MoveWeightsInward(ExportedModel& exported);

}  // namespace iropt::onnx
