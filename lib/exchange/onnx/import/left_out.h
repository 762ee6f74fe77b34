// The room in a file of what reading drops of it.
#pragma once

#include <cstdint>

#include "exchange/onnx/model.h"
#include "iropt/ir/module.h"

namespace iropt::onnx {

// Returns whether nodes may be needed to compute shapes: sizes of inputs are not known, and nodes ask for shapes.
bool MayComputeShapes(const GraphProto& graph);

// The bytes of the nodes that no call of the module comes from, by their places (node_places.h), and of what makes a
// node of a constant. Tensors, documentation and metadata do not count, nor nodes that may be written again although
// the module has only shapes for them: of these, and of all nodes of models with functions, which reading inlines, no
// more is taken than the least a node has. 0 for nodes without places. O(nodes and calls).
uint64_t BytesLeftOut(const Model& model, const Module& module);

}  // namespace iropt::onnx
