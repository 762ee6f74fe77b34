#include "shape_values.h"

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/reorder.h"
#include "iropt/infer/ops/scan.h"
#include "iropt/infer/ops/shape.h"
#include "iropt/infer/ops/slice.h"
#include "iropt/ir/context.h"
#include "iropt/op/op_id.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/shape.h"

namespace iropt::relay {

namespace {

DimList NewDims(size_t count) {
  DimList dims;
  for (size_t i = 0; i < count; ++i) dims.push_back(IRContext::Current().NewSymVar("d"));
  return dims;
}

const Expr* ValueOf(OpCall& call, const Expr* expr) {
  const auto* var = As<Var>(expr);
  const Expr* value = var ? call.builder().LookupBinding(var) : nullptr;
  return value ? value : expr;
}

// The tensor whose shape the expression is, in any dtype of integers; or null.
const Expr* TensorOfShape(OpCall& call, const Expr* expr) {
  const Expr* value = ValueOf(call, expr);
  while (const iropt::Call* cast = CallOf(value, op::kAstype)) value = ValueOf(call, cast->args[0]);
  const iropt::Call* vector = CallOf(value, op::kShapeToTensor);
  const iropt::Call* shape = vector ? CallOf(ValueOf(call, vector->args[0]), op::kShapeOf) : nullptr;
  return shape ? shape->args[0] : nullptr;
}

}  // namespace

std::optional<DimList> DimsFrom(OpCall& call, const Expr* numbers, size_t expected) {
  if (numbers == nullptr) return std::nullopt;
  const arith::PrimBuilder make;
  DimList dims;
  if (const auto known = ConstantInts(numbers)) {
    for (const int64_t size : *known) dims.push_back(make.Int(size));
    return dims;
  }
  if (auto of_tensor = DimsOfShape(call, numbers)) return of_tensor;
  if (RankOf(numbers) == 0) numbers = call.Reshape(numbers, {1});
  const auto length = StaticDimsOf(numbers);
  const size_t count = length && length->size() == 1 ? static_cast<size_t>(length->front()) : expected;
  if (!length && expected == 0) {
    call.NoCounterpart("a shape with an unknown number of dimensions");
    return std::nullopt;
  }
  if (!call.MayRepeat({static_cast<int64_t>(count)})) return std::nullopt;
  const Expr* shape = op::TensorToShape(call, call.Cast(numbers, kInt64));
  if (shape == nullptr) return std::nullopt;
  dims = NewDims(count);
  call.builder().EmitMatchCast(shape, ShapeType::Get(dims));
  return dims;
}

const PrimExpr* DimFrom(OpCall& call, const Expr* number) {
  const auto dims = DimsFrom(call, number);
  if (dims && dims->empty()) call.Error("bad-argument", "an operand that is a number has no elements");
  return dims && !dims->empty() ? dims->front() : nullptr;
}

std::optional<DimList> DimsOfShape(OpCall& call, const Expr* vector) {
  const Expr* tensor = TensorOfShape(call, vector);
  return tensor ? DimsOf(tensor) : std::nullopt;
}

const Expr* ShapeVector(OpCall& call, const Expr* tensor) {
  if (tensor == nullptr) return nullptr;
  if (const auto dims = StaticDimsOf(tensor)) return call.IntTensor(*dims, kInt64);
  return op::ShapeToTensor(call, op::ShapeOf(call, tensor));
}

const Expr* SizeOfAxis(OpCall& call, const Expr* tensor, int64_t axis, DataType dtype) {
  const auto dims = tensor ? DimsOf(tensor) : std::nullopt;
  if (dims && static_cast<size_t>(axis) < dims->size()) {
    if (const int64_t* size = arith::AsInt((*dims)[static_cast<size_t>(axis)])) {
      return dtype.is_floating() ? call.Scalar(static_cast<double>(*size), dtype) : call.Scalar(*size, dtype);
    }
  }
  const Expr* index = call.Scalar(axis, kInt64);
  return call.Cast(op::Take(call, ShapeVector(call, tensor), index, {.axis = 0}), dtype);
}

const Expr* WeightsOf(OpCall& call, const Expr* shape) {
  if (const auto sizes = ConstantInts(shape)) {
    std::vector<int64_t> weights(sizes->size(), 1);
    for (size_t i = weights.size(); i-- > 1;) weights[i - 1] = weights[i] * (*sizes)[i];
    return call.IntTensor(weights, DTypeOf(shape));
  }
  const Expr* backwards = op::Flip(call, shape, {.axis = 0});
  const Expr* products = op::Cumprod(call, backwards, {.axis = 0, .exclusive = true});
  return op::Flip(call, products, {.axis = 0});
}

const Expr* WithNamedDims(OpCall& call, const Expr* tensor) {
  const int rank = RankOf(tensor);
  if (tensor == nullptr || rank == kUnknownDim || DimsOf(tensor)) return tensor;
  const DimList dims = NewDims(static_cast<size_t>(rank));
  return call.builder().EmitMatchCast(tensor, TensorType::Get(dims, DTypeOf(tensor)));
}

const Expr* WithDims(OpCall& call, const Expr* tensor, const DimList& dims) {
  if (tensor == nullptr) return nullptr;
  const auto same = [](const PrimExpr* a, const PrimExpr* b) {
    const int64_t* first = arith::AsInt(a);
    const int64_t* second = arith::AsInt(b);
    return a == b || (first != nullptr && second != nullptr);
  };
  const auto known = DimsOf(tensor);
  if (known && std::ranges::equal(*known, dims, same)) return tensor;
  return call.builder().EmitMatchCast(tensor, TensorType::Get(dims, DTypeOf(tensor)));
}

}  // namespace iropt::relay
