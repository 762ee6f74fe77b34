// Small helpers that several families use.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "exchange/onnx/import/op_import.h"
#include "exchange/onnx/import/op_table.h"

namespace iropt::onnx {

// The operator of the first input alone.
template <OpId kOp>
Value ImportUnary(OpImport& op) {
  return op.Call(kOp, {op.In(0)});
}

// Of the first two inputs.
template <OpId kOp>
Value ImportBinary(OpImport& op) {
  return op.Call(kOp, {op.In(0), op.In(1)});
}

// The value of the first input.
inline Value ImportIdentity(OpImport& op) {
  return op.scope().Find(op.node().inputs[0])->elements ? Value(*op.ElementsOf(0)) : Value(op.In(0));
}

// A scalar constant of the dtype of a tensor.
inline const Expr* ScalarLike(OpImport& op, const Expr* x, double value) {
  const TensorType* type = OpImport::TensorOf(x);
  return op.Scalar(value, type ? type->dtype : DataType::Void());
}

const Expr* Add(OpImport& op, const Expr* a, const Expr* b);
const Expr* Subtract(OpImport& op, const Expr* a, const Expr* b);
const Expr* Multiply(OpImport& op, const Expr* a, const Expr* b);
const Expr* Divide(OpImport& op, const Expr* a, const Expr* b);
// Times a number, unless it is 1.
const Expr* Scaled(OpImport& op, const Expr* x, double factor);
const Expr* Where(OpImport& op, const Expr* condition, const Expr* a, const Expr* b);

// A bound of a slice of a dimension, as it counts from 0 up: from 0 to the dimension or, for steps back, to the
// dimension less 1, where the end is -1 to have the first element.
inline int64_t ClampedBound(int64_t at, int64_t size, int64_t step, bool is_end) {
  if (at < 0) at += size;
  const int64_t most = step > 0 ? size : size - 1;
  const int64_t least = step < 0 && is_end ? -1 : 0;
  return std::max(std::min(at, most), std::min(least, most));
}

// Returns whether runtimes differ on a slice: steps back to the greatest integer have no elements by ONNX, and all down
// to the first one in onnxruntime.
inline bool IsAmbiguousEnd(int64_t end, int64_t step) { return step < 0 && (end == INT64_MAX || end == INT32_MAX); }

// first, first + 1, ..., last - 1.
inline std::vector<int64_t> Iota(int64_t first, int64_t last) {
  std::vector<int64_t> numbers;
  for (int64_t i = first; i < last; ++i) numbers.push_back(i);
  return numbers;
}

const Expr* ExpandDims(OpImport& op, const Expr* x, const std::vector<int64_t>& axes);

const Expr* Reduce(OpImport& op, OpId reduction, const Expr* x, const std::vector<int64_t>& axes, bool keepdims);

// The tensor of one dimension with a size, 1 in the others: that a bias per channel broadcasts as.
const Expr* AlongAxis(OpImport& op, const Expr* x, int64_t axis, int rank);

// The group normalization of a node, with a scale and a bias for each channel.
const Expr* GroupNorm(OpImport& op, const Expr* scale, const Expr* bias);

// A dimension of a type whose shape is known; null otherwise.
const PrimExpr* DimOf(const TensorType* type, size_t axis);

// ---- Windows of convolutions and pools.
struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;  // all begins, then all ends
};

// Returns whether an attribute has so many numbers, of 32 bits, so that no extent of a window overflows, and from
// `least` up. Reports an error otherwise.
bool CheckNumbers(OpImport& op, std::string_view name, std::span<const int64_t> numbers, size_t count, int64_t least);

// The window of the node for a tensor with so many spatial dimensions. `sizes` are their lengths if they are known,
// which auto_pad needs. Nullopt if they are not and it does, or after an error.
std::optional<Window> WindowOf(OpImport& op, std::vector<int64_t> kernel,
                               const std::optional<std::vector<int64_t>>& sizes);

}  // namespace iropt::onnx
