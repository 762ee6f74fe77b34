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

// Brings the node from the version of the operator set that it was read with into the one that is written. Says why if
// there is no such form: the operator is newer, or it computes something else, or takes what only a run can tell as an
// attribute.
std::optional<std::string> ConvertNode(OpExport& op, int64_t from, NodeForm& node);

}  // namespace iropt::onnx
