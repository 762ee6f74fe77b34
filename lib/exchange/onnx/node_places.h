// The origin of imported calls. A model is not a text, so its nodes are described in one, a line each:
//
//   Conv "conv1": x, w -> y
//
// The operator and the name are the span of the node's calls. Passes keep spans, so that messages show the node, and
// the writer finds its name again.
#pragma once

#include <optional>
#include <string>

#include "exchange/onnx/model.h"
#include "iropt/diag/source.h"

namespace iropt::onnx {

// The operator as messages name it: with its domain if it is not one of ONNX's own.
std::string QualifiedOp(const NodeProto& node);

// Describes all nodes, those in graphs and functions as well, in a source with this name, and sets their spans. Fails
// if the sources of the run become too big. O(nodes).
Status PlaceNodes(Model& model, const std::string& name, SourceManager& sources);

struct NodePlace {
  std::string op;
  std::string name;
};

// The node that a span stands for; nullopt if it has no name or the span is not that of a node.
std::optional<NodePlace> PlaceAt(Span span, const SourceManager& sources);

}  // namespace iropt::onnx
