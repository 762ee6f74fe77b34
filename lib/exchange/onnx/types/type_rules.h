// The table of type rules. Families are in files of their own.
#pragma once

#include <span>
#include <string_view>

#include "exchange/onnx/types/dims.h"
#include "iropt/ir/dtype.h"

namespace iropt::onnx {

struct TypeRow {
  // Operators, with a space between them and with the domain before the name if it is not that of ONNX.
  std::string_view ops;
  // The first output that the row is for. It holds up to the output of the next row of the operator.
  size_t output;
  DataType (*dtype)(OpImport& op, size_t output);
  Dims (*dims)(OpImport& op, size_t output);
};

// ---- The families.
std::span<const TypeRow> ElementTypeRows();
std::span<const TypeRow> ShapeTypeRows();
std::span<const TypeRow> WindowTypeRows();
std::span<const TypeRow> SequenceTypeRows();
std::span<const TypeRow> TransformerTypeRows();

// ---- Rules of dtypes
// That of an input.
template <size_t kInput>
DataType Of(OpImport& op, size_t /*output*/) {
  if (!op.Has(kInput)) return DataType::Void();
  return op.TypeOf(kInput) ? op.Dtype(kInput) : DataType::Handle();
}
template <TypeCode kCode, int kBits>
DataType Always(OpImport& /*op*/, size_t /*output*/) {
  return DataType::Make(kCode, kBits, 1);
}
inline constexpr auto kBools = &Always<TypeCode::kUInt, 1>;
inline constexpr auto kBytes = &Always<TypeCode::kUInt, 8>;
inline constexpr auto kInts = &Always<TypeCode::kInt, 32>;
inline constexpr auto kLongs = &Always<TypeCode::kInt, 64>;
inline constexpr auto kFloats = &Always<TypeCode::kFloat, 32>;
inline constexpr auto kNoNumbers = &Always<TypeCode::kHandle, 64>;
inline constexpr auto kUnknown = &Always<TypeCode::kHandle, 0>;

// That of an attribute which holds the number of an element type; `fallback` if it is not there.
DataType DtypeIn(OpImport& op, std::string_view attribute, DataType fallback);

// ---- Rules of dimensions
// Those of an input.
template <size_t kInput>
Dims Like(OpImport& op, size_t /*output*/) {
  return DimsIn(op, kInput);
}
// As many as an input has.
template <size_t kInput>
Dims RankLike(OpImport& op, size_t /*output*/) {
  const Dims dims = DimsIn(op, kInput);
  return dims ? UnknownDims(dims->size()) : std::nullopt;
}
template <size_t kRank>
Dims Rank(OpImport& /*op*/, size_t /*output*/) {
  return UnknownDims(kRank);
}
inline Dims AnyRank(OpImport& /*op*/, size_t /*output*/) { return std::nullopt; }
template <size_t kA, size_t kB>
Dims ProductOf(OpImport& op, size_t /*output*/) {
  return ProductDims(DimsIn(op, kA), DimsIn(op, kB));
}
template <size_t kA, size_t kB>
Dims Broadcast(OpImport& op, size_t /*output*/) {
  return BroadcastDimsOf(DimsIn(op, kA), DimsIn(op, kB));
}

}  // namespace iropt::onnx
