// The table of ONNX's operators with their translations to Relax. Families of operators are in ../ops, one file each.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "exchange/onnx/import/op_import.h"

namespace iropt::onnx {

struct OpRow {
  std::string_view name;
  int since;  // the first version of the operator set that the row is for; it holds up to the next row of the name
  // The number of inputs: fewer or more are errors. The first `least` are not optional, nor are those of an operator
  // with one and more.
  int least;
  int most;
  // See OpImport.
  Value (*import)(OpImport& op);
  // For the document: what the operator becomes.
  std::string_view becomes;
  // The value by scalar expressions, tried first if all inputs have elements; null for none.
  Value (*evaluate)(OpImport& op) = nullptr;
  std::string_view domain = "";
};

inline constexpr int kAny = 1 << 20;  // for OpRow::most

// The row for an operator in this version of its domain's operator set; null if there is none.
const OpRow* FindOpRow(std::string_view domain, std::string_view name, int64_t version);
// Of all families.
std::span<const std::span<const OpRow>> OpFamilies();

// ---- The families.
std::span<const OpRow> ControlRows();
std::span<const OpRow> ConvolutionRows();
std::span<const OpRow> ElementwiseRows();
std::span<const OpRow> GatherRows();
std::span<const OpRow> ImageRows();
std::span<const OpRow> LinearRows();
std::span<const OpRow> LossRows();
std::span<const OpRow> ManipulateRows();
std::span<const OpRow> NormalizationRows();
std::span<const OpRow> PoolingRows();
std::span<const OpRow> QuantizationRows();
std::span<const OpRow> RecurrentRows();
std::span<const OpRow> ReductionRows();
std::span<const OpRow> ShapeRows();

}  // namespace iropt::onnx
