// The bodies of loops as private functions.
#pragma once

#include <optional>
#include <vector>

#include "exchange/onnx/import/op_import.h"

namespace iropt::onnx {

struct BodyFunction {
  const GlobalVar* function;
  // Values from around the node that the body uses: the function's parameters after those of the graph.
  std::vector<const Expr*> captured;
};

// Adds a function for a graph that is an attribute of the node. Constants become part of it. Nullopt after an error.
std::optional<BodyFunction> ImportBodyFunction(OpImport& op, std::string_view attribute, const GraphProto& graph);

}  // namespace iropt::onnx
