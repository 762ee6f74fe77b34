// Dimensions as far as they are known, and what type rules compute with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "exchange/onnx/import/op_import.h"

namespace iropt::onnx {

// Nullopt if the rank is not known. A dimension that is not known is null.
using Dims = std::optional<std::vector<const PrimExpr*>>;

// Of an input; nullopt if it is left out.
Dims DimsIn(OpImport& op, size_t input);
// So many dimensions that are not known.
Dims UnknownDims(size_t rank);
// What the elements of an input say: a shape. Of the right rank if only the number of elements is known.
Dims ShapeIn(OpImport& op, size_t input);
// What the one element of an input says; null if it is not known.
const PrimExpr* LengthIn(OpImport& op, size_t input);
// The rank less 1 if the axis is -1, and so on; nullopt if there is no such axis.
std::optional<size_t> AxisOf(int64_t axis, const Dims& dims);
// Those of an attribute or, from some version on, of an input. Nullopt if they are not known.
std::optional<std::vector<size_t>> AxesIn(OpImport& op, std::string_view name, size_t input, const Dims& dims);

// ---- Arithmetic: null if an operand is.
const PrimExpr* WholeDim(int64_t number);
std::optional<int64_t> NumberOfDim(const PrimExpr* dim);
const PrimExpr* AddDims(const PrimExpr* a, const PrimExpr* b);
const PrimExpr* SubtractDims(const PrimExpr* a, const PrimExpr* b);
const PrimExpr* MultiplyDims(const PrimExpr* a, const PrimExpr* b);
// Rounds down.
const PrimExpr* DivideDim(const PrimExpr* a, int64_t b);
const PrimExpr* MultiplyAll(const std::vector<const PrimExpr*>& dims, size_t first, size_t last);
// The dimension of two that broadcast; null if only a run can tell.
const PrimExpr* BroadcastDimOf(const PrimExpr* a, const PrimExpr* b);
Dims BroadcastDimsOf(const Dims& a, const Dims& b);
// Of a matrix product. Vectors are matrices of one row or one column.
Dims ProductDims(const Dims& a, const Dims& b);

}  // namespace iropt::onnx
