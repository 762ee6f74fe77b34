#include "exchange/onnx/export/op_rows.h"

#include "iropt/support/lookup.h"

namespace iropt::onnx {

const ExportRow* FindExportRow(OpId op) {
  static const LookupMap<OpId, const ExportRow*> rows = [] {
    LookupMap<OpId, const ExportRow*> by_op;
    const std::span<const ExportRow> families[] = {AttentionExports(), BoxExports(),          ElementwiseExports(),
                                                   GradientExports(),  ImageExports(),        ManipulateExports(),
                                                   NeuralExports(),    QuantizationExports(), ReductionExports(),
                                                   ReorderExports(),   SelectionExports(),    ShapeExports()};
    for (const std::span<const ExportRow> family : families) {
      for (const ExportRow& row : family) by_op.try_emplace(row.op, &row);
    }
    return by_op;
  }();
  return rows.Lookup(op);
}

}  // namespace iropt::onnx
