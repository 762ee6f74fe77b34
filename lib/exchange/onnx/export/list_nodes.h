// A model as a text of one line per node, for people.
#pragma once

#include "exchange/onnx/model.h"
#include "iropt/support/file.h"

namespace iropt::onnx {

// The inputs, the initializers with their sizes, the nodes with their attributes, operands and results, and the
// outputs, each with its type as far as the model has it.
void ListNodes(const Model& model, OutputStream& out);

}  // namespace iropt::onnx
