// Nodes of one operator set in another one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/onnx/export/op_export.h"

namespace iropt::onnx {

// A node of ONNX's own operators that a call of `onnx.<Op>` stands for.
struct NodeForm {
  std::string_view op;
  Names inputs;
  std::vector<AttributeProto> attributes;
};

// Brings the node from the version of the operator set that it was read with into the one that is written. Returns the
// reason if that version cannot express it: the operator is newer, it computes something else, or it takes as an
// attribute what only a run can tell.
std::optional<std::string> ConvertNode(OpExport& op, int64_t from, NodeForm& node);

// The first version of ONNX's own operator set that has an operator: 1 for all up to 7, and 0 for those that are not
// known.
int FirstVersionOf(std::string_view op);

}  // namespace iropt::onnx
