// Types of the outputs of nodes that stay calls of `onnx.<Op>`, as far as they follow from the operator, its inputs and
// its attributes. The rules are a table (type_rules.h).
#pragma once

#include <vector>

#include "exchange/onnx/types/dims.h"
#include "iropt/ir/dtype.h"

namespace iropt::onnx {

struct NodeType {
  // Void if it is not known; a handle if the value is not a tensor of numbers: of strings, a sequence, ...
  DataType dtype = DataType::Void();
  Dims dims = {};
};

// One for each output.
std::vector<NodeType> TypesOfNode(OpImport& op);

}  // namespace iropt::onnx
