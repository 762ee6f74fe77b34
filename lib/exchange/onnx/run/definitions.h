// What operators that the importer keeps as calls compute, by operators of Relax. They are defined once their inputs
// are known, when the call is run.
#pragma once

#include <span>
#include <string_view>

#include "exchange/onnx/import/op_import.h"

namespace iropt::onnx {

struct DefinitionRow {
  std::string_view name;  // with the domain before it, if it is not that of ONNX
  // See OpImport. No value for a form that is not defined.
  Value (*define)(OpImport& op);
};

std::span<const DefinitionRow> OpDefinitions();
// Null if there is none.
const DefinitionRow* FindDefinition(std::string_view name);

}  // namespace iropt::onnx
