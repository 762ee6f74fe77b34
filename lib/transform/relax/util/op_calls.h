// Calls of operators by name, for passes that make many of them: the operands may be calls themselves, and the types
// are inferred. Attributes that are not mentioned have their defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "iropt/infer/infer.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/op/op_attrs.h"
#include "iropt/runtime/value.h"

namespace iropt {

class OpCalls {
 public:
  explicit OpCalls(BlockBuilder& builder) : builder_(builder) {}

  const Call* Make(OpId op, std::initializer_list<const Expr*> args, const Attr* attrs = nullptr) {
    return builder_.MakeCall(GetOp(op), args, attrs);
  }
  const Call* Make(OpId op, std::span<const Expr* const> args, const Attr* attrs) {
    return builder_.MakeCall(GetOp(op), args, attrs);
  }
  // Null, without a report, if the operator does not take these operands.
  const Call* TryMake(OpId op, std::initializer_list<const Expr*> args, const Attr* attrs = nullptr) {
    const std::span<const Expr* const> operands(args.begin(), args.size());
    Call* call = workspace().New<Call>(GetOp(op), workspace().Copy(operands), attrs, nullptr, nullptr);
    InferContext quiet(nullptr, workspace().arena(), nullptr);
    call->type = InferType(call, quiet);
    return call->type ? call : nullptr;
  }
  const Call* Add(const Expr* a, const Expr* b) { return Make(OpId::kAdd, {a, b}); }
  const Call* Subtract(const Expr* a, const Expr* b) { return Make(OpId::kSubtract, {a, b}); }
  const Call* Multiply(const Expr* a, const Expr* b) { return Make(OpId::kMultiply, {a, b}); }
  const Call* Divide(const Expr* a, const Expr* b) { return Make(OpId::kDivide, {a, b}); }
  const Call* Sqrt(const Expr* x) { return Make(OpId::kSqrt, {x}); }
  const Call* Matmul(const Expr* a, const Expr* b, DataType out_dtype = DataType::Void()) {
    return Make(OpId::kMatmul, {a, b}, MakeOpAttrs(OpId::kMatmul, MatmulAttrs::Values{.out_dtype = out_dtype}));
  }
  // Reverses all axes.
  const Call* PermuteDims(const Expr* x) {
    return Make(OpId::kPermuteDims, {x}, MakeOpAttrs(OpId::kPermuteDims, PermuteDimsAttrs::Values{}));
  }
  const Call* PermuteDims(const Expr* x, std::span<const int64_t> axes) {
    return Make(OpId::kPermuteDims, {x}, MakeOpAttrs(OpId::kPermuteDims, PermuteDimsAttrs::Values{.axes = axes}));
  }
  const Call* ExpandDims(const Expr* x, std::span<const int64_t> axes) {
    return Make(OpId::kExpandDims, {x}, MakeOpAttrs(OpId::kExpandDims, ExpandDimsAttrs::Values{.axis = axes}));
  }
  const Call* Concat(std::span<const Expr* const> tensors, int64_t axis) {
    return Make(OpId::kConcat, {MakeTuple(tensors)}, MakeOpAttrs(OpId::kConcat, ConcatAttrs::Values{.axis = axis}));
  }
  // Splits at these indices.
  const Call* Split(const Expr* x, std::span<const int64_t> indices, int64_t axis) {
    return Make(OpId::kSplit, {x},
                MakeOpAttrs(OpId::kSplit, SplitAttrs::Values{.indices_or_sections = indices, .axis = axis}));
  }
  const Call* Take(const Expr* x, const Expr* indices, int64_t axis) {
    return Make(OpId::kTake, {x, indices}, MakeOpAttrs(OpId::kTake, TakeAttrs::Values{.axis = axis}));
  }
  const Call* Reshape(const Expr* x, std::span<const PrimExpr* const> dims) {
    return Make(OpId::kReshape, {x, MakeShape(dims)});
  }
  const Call* Einsum(std::span<const Expr* const> operands, std::string_view subscripts) {
    return Make(OpId::kEinsum, {MakeTuple(operands)},
                MakeOpAttrs(OpId::kEinsum, EinsumAttrs::Values{.subscripts = subscripts}));
  }
  // `op` is a reduction, such as OpId::kMean.
  const Call* Reduce(OpId op, const Expr* x, std::span<const int64_t> axes, bool keepdims) {
    return Make(op, {x}, MakeOpAttrs(op, StatisticalAttrs::Values{.axis = axes, .keepdims = keepdims}));
  }

  const Expr* MakeTuple(std::span<const Expr* const> fields) {
    auto* tuple = workspace().New<Tuple>(workspace().Copy(fields), nullptr);
    tuple->type = builder_.inferrer()->Infer(tuple);
    return tuple;
  }
  const Expr* MakeItem(const Expr* tuple, int index) {
    auto* item = workspace().New<TupleGetItem>(tuple, index, nullptr);
    item->type = builder_.inferrer()->Infer(item);
    return item;
  }
  const Expr* MakeShape(std::span<const PrimExpr* const> dims) {
    return workspace().New<ShapeExpr>(workspace().Copy(dims), ShapeType::Get(dims));
  }
  // A constant of rank 0, rounded to the dtype.
  const Expr* MakeScalar(double value, DataType dtype) {
    const Scalar scalar =
        dtype.is_floating() ? Scalar::Float(value, dtype) : Scalar::Int(static_cast<int64_t>(value), dtype);
    return MakeConstant(MakeScalarTensor(scalar), workspace());
  }

 private:
  Workspace& workspace() { return builder_.workspace(); }

  BlockBuilder& builder_;
};

// The type of a tensor; null for other types.
inline const TensorType* TensorTypeOf(const Expr* expr) { return As<TensorType>(expr->type); }

// The axes of a permute_dims, none of which is negative; empty if the rank is not known, and for rank 0.
inline std::vector<int64_t> PermutationOf(const Call& permute_dims) {
  const TensorType* tensor = TensorTypeOf(permute_dims.args[0]);
  if (!tensor || tensor->ndim == kUnknownDim) return {};
  std::vector<int64_t> axes;
  if (const auto given = PermuteDimsAttrs(permute_dims).axes()) {
    for (const int64_t axis : *given) axes.push_back(axis < 0 ? axis + tensor->ndim : axis);
  } else {
    for (int64_t axis = tensor->ndim - 1; axis >= 0; --axis) axes.push_back(axis);
  }
  return axes;
}

// The axes of a permute_dims that exchanges the last two of at least two axes and keeps the others.
inline std::vector<int64_t> ExchangeLastTwo(int rank) {
  std::vector<int64_t> axes;
  for (int i = 0; i < rank - 2; ++i) axes.push_back(i);
  axes.insert(axes.end(), {rank - 1, rank - 2});
  return axes;
}

}  // namespace iropt
