// The table of Relax operators with their translations to ONNX. Families of operators are in rows/, one file each.
#pragma once

#include <span>
#include <string_view>

#include "exchange/onnx/export/op_export.h"

namespace iropt::onnx {

struct ExportRow {
  OpId op;
  std::string_view onnx_op;  // empty if the function alone says what stands for the call
  int since = 1;             // the first version of the operator set that has it
  // Null if a node of the operator with the same operands, and without attributes, stands for the call.
  Names (*make)(OpExport& op) = nullptr;
};

// Null if ONNX has nothing for the operator.
const ExportRow* FindExportRow(OpId op);

// ---- The families.
std::span<const ExportRow> AttentionExports();
std::span<const ExportRow> BoxExports();
std::span<const ExportRow> ElementwiseExports();
std::span<const ExportRow> GradientExports();
std::span<const ExportRow> ImageExports();
std::span<const ExportRow> ManipulateExports();
std::span<const ExportRow> NeuralExports();
std::span<const ExportRow> QuantizationExports();
std::span<const ExportRow> ReductionExports();
std::span<const ExportRow> ReorderExports();
std::span<const ExportRow> SelectionExports();
std::span<const ExportRow> ShapeExports();

}  // namespace iropt::onnx
