#include "exchange/onnx/types/dims.h"

#include <algorithm>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/ir/structural.h"

namespace iropt::onnx {

Dims DimsIn(OpImport& op, size_t input) {
  const TensorType* type = op.Has(input) ? op.TypeOf(input) : nullptr;
  if (type == nullptr || type->ndim < 0) return std::nullopt;
  if (!type->known) return UnknownDims(static_cast<size_t>(type->ndim));
  return std::vector<const PrimExpr*>(type->dims.begin(), type->dims.end());
}

Dims UnknownDims(size_t rank) { return std::vector<const PrimExpr*>(rank, nullptr); }

Dims ShapeIn(OpImport& op, size_t input) {
  if (const Elements* elements = op.ElementsOf(input)) return elements->values;
  const Dims dims = DimsIn(op, input);
  const auto rank = dims && dims->size() == 1 ? NumberOfDim(dims->front()) : std::nullopt;
  constexpr int64_t kMostDims = 64;
  if (!rank || *rank < 0 || *rank > kMostDims) return std::nullopt;
  return UnknownDims(static_cast<size_t>(*rank));
}

const PrimExpr* LengthIn(OpImport& op, size_t input) {
  const Elements* elements = op.ElementsOf(input);
  return elements && elements->values.size() == 1 ? elements->values.front() : nullptr;
}

std::optional<size_t> AxisOf(int64_t axis, const Dims& dims) {
  if (!dims) return std::nullopt;
  const auto rank = static_cast<int64_t>(dims->size());
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

std::optional<std::vector<size_t>> AxesIn(OpImport& op, std::string_view name, size_t input, const Dims& dims) {
  const auto given = op.AttrOrInput(name, input);
  if (!given) return std::nullopt;
  std::vector<size_t> axes;
  for (const int64_t axis : *given) {
    const auto at = AxisOf(axis, dims);
    if (!at) return std::nullopt;
    axes.push_back(*at);
  }
  return axes;
}

const PrimExpr* WholeDim(int64_t number) { return IRContext::Current().Int(number); }

std::optional<int64_t> NumberOfDim(const PrimExpr* dim) {
  const auto* number = dim ? As<tir::IntImm>(dim) : nullptr;
  return number ? std::optional(number->value) : std::nullopt;
}

namespace {

const PrimExpr* Simplified(const PrimExpr* dim) { return Is<tir::IntImm>(dim) ? dim : arith::Analyzer().Simplify(dim); }

}  // namespace

const PrimExpr* AddDims(const PrimExpr* a, const PrimExpr* b) {
  return a && b ? Simplified(arith::PrimBuilder().Add(a, b)) : nullptr;
}
const PrimExpr* SubtractDims(const PrimExpr* a, const PrimExpr* b) {
  return a && b ? Simplified(arith::PrimBuilder().Sub(a, b)) : nullptr;
}
const PrimExpr* MultiplyDims(const PrimExpr* a, const PrimExpr* b) {
  return a && b ? Simplified(arith::PrimBuilder().Mul(a, b)) : nullptr;
}
const PrimExpr* DivideDim(const PrimExpr* a, int64_t b) {
  return a && b > 0 ? Simplified(arith::PrimBuilder().FloorDiv(a, WholeDim(b))) : nullptr;
}

const PrimExpr* MultiplyAll(const std::vector<const PrimExpr*>& dims, size_t first, size_t last) {
  const PrimExpr* product = WholeDim(1);
  for (size_t i = first; i < last; ++i) product = MultiplyDims(product, dims[i]);
  return product;
}

const PrimExpr* BroadcastDimOf(const PrimExpr* a, const PrimExpr* b) {
  const auto left = NumberOfDim(a);
  const auto right = NumberOfDim(b);
  if (left == 1) return b;
  if (right == 1) return a;
  if (left) return a;
  if (right) return b;
  return a && b && DeepEqual(a, b) ? a : nullptr;
}

Dims BroadcastDimsOf(const Dims& a, const Dims& b) {
  if (!a || !b) return std::nullopt;
  const std::vector<const PrimExpr*>& longer = a->size() < b->size() ? *b : *a;
  const std::vector<const PrimExpr*>& shorter = a->size() < b->size() ? *a : *b;
  std::vector<const PrimExpr*> dims = longer;
  const size_t first = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) dims[first + i] = BroadcastDimOf(dims[first + i], shorter[i]);
  return dims;
}

Dims ProductDims(const Dims& a, const Dims& b) {
  if (!a || !b || a->empty() || b->empty()) return std::nullopt;
  const auto batch = [](const std::vector<const PrimExpr*>& dims) {
    return Dims(std::vector(dims.begin(), dims.end() - static_cast<std::ptrdiff_t>(std::min<size_t>(2, dims.size()))));
  };
  Dims dims = BroadcastDimsOf(batch(*a), batch(*b));
  if (a->size() > 1) dims->push_back((*a)[a->size() - 2]);
  if (b->size() > 1) dims->push_back(b->back());
  return dims;
}

}  // namespace iropt::onnx
