// What operators compute that stay calls where ONNX becomes ONNX, by operators of Relax: the importer defines them for
// other formats, and calls of them are defined when they are run.
#pragma once

#include <span>
#include <string_view>

#include "exchange/onnx/import/op_import.h"

namespace iropt::onnx {

struct DefinitionRow {
  std::string_view name;    // with the domain before it, if it is not that of ONNX
  std::string_view inputs;  // a digit for each that must be there
  // See OpImport. No value for a form that is not defined.
  Value (*define)(OpImport& op);
  // For the document: what the operator becomes.
  std::string_view becomes;
};

std::span<const DefinitionRow> OpDefinitions();
// The value of a node by its row. None without a row, for a form that is not defined, and where an input is missing.
Value Define(OpImport& op);

}  // namespace iropt::onnx
