#include "exchange/onnx/export/op_rows.h"

#include <unordered_map>

namespace iropt::onnx {

const ExportRow* FindExportRow(OpId op) {
  static const std::unordered_map<OpId, const ExportRow*> rows = [] {
    std::unordered_map<OpId, const ExportRow*> by_op;
    const std::span<const ExportRow> families[] = {ElementwiseExports(), ImageExports(),     ManipulateExports(),
                                                   NeuralExports(),      ReductionExports(), ShapeExports()};
    for (const std::span<const ExportRow> family : families) {
      for (const ExportRow& row : family) by_op.emplace(row.op, &row);
    }
    return by_op;
  }();
  const auto found = rows.find(op);
  return found == rows.end() ? nullptr : found->second;
}

}  // namespace iropt::onnx
