#include "exchange/onnx/import/op_table.h"

#include <unordered_map>
#include <vector>

namespace iropt::onnx {

std::span<const std::span<const OpRow>> OpFamilies() {
  static const std::span<const OpRow> families[] = {
      ControlRows(),      ConvolutionRows(), ElementwiseRows(), GatherRows(),  ImageRows(),
      LinearRows(),       LossRows(),        ManipulateRows(),  PoolingRows(), NormalizationRows(),
      QuantizationRows(), RecurrentRows(),   ReductionRows(),   ShapeRows(),
  };
  return families;
}

namespace {

using RowsByName = std::unordered_map<std::string_view, std::vector<const OpRow*>>;

const RowsByName& RowsByOpName() {
  static const RowsByName rows = [] {
    RowsByName by_name;
    for (const std::span<const OpRow> family : OpFamilies()) {
      for (const OpRow& row : family) by_name[row.name].push_back(&row);
    }
    return by_name;
  }();
  return rows;
}

}  // namespace

const OpRow* FindOpRow(std::string_view domain, std::string_view name, int64_t version) {
  const auto found = RowsByOpName().find(name);
  if (found == RowsByOpName().end()) return nullptr;
  const OpRow* best = nullptr;
  for (const OpRow* row : found->second) {
    const bool same_domain = row->domain == domain || (IsOnnxDomain(row->domain) && IsOnnxDomain(domain));
    if (same_domain && row->since <= version && (best == nullptr || best->since < row->since)) best = row;
  }
  return best;
}

}  // namespace iropt::onnx
