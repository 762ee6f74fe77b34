// Reductions over axes.
#include <algorithm>

#include "dims.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/create.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/reorder.h"
#include "iropt/infer/ops/scan.h"
#include "iropt/infer/ops/statistical.h"
#include "op_table.h"

namespace iropt::relay {

namespace {

// The axes of a reduction: all of them if none is given, the others if `exclude`. Nothing after an error.
std::optional<std::vector<int64_t>> AxesOf(OpCall& call) {
  const int rank = RankOf(call.arg(0));
  if (rank == kUnknownDim) {
    call.Error("type-inference", "the rank of the operand is unknown");
    return std::nullopt;
  }
  std::vector<bool> chosen(static_cast<size_t>(rank), !call.has("axis"));
  for (const int64_t axis : call.Ints("axis")) {
    const auto at = call.Axis(axis, rank);
    if (!at) return std::nullopt;
    chosen[static_cast<size_t>(*at)] = true;
  }
  if (call.has("axis") && call.attr("axis").is_list() && call.Ints("axis").empty()) chosen.assign(chosen.size(), true);
  const bool exclude = call.Bool("exclude") && call.has("axis");
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i) {
    if (chosen[static_cast<size_t>(i)] != exclude) axes.push_back(i);
  }
  return axes;
}

using Reduction = const Call* (*)(OpBuilder ops, const Expr* x, const StatisticalAttrs::Values& attrs);

const Expr* ReduceWith(OpCall& call, Reduction reduction, const Expr* operand) {
  const auto axes = AxesOf(call);
  if (!axes || operand == nullptr) return nullptr;
  const bool all = static_cast<int>(axes->size()) == RankOf(call.arg(0));
  // Without an axis, nothing is reduced.
  if (axes->empty() && !all) return operand;
  return reduction(call, operand, {.axis = all ? OptInts() : OptInts(*axes), .keepdims = call.Bool("keepdims")});
}

template <auto kOp>
const Expr* BuildReduce(OpCall& call) {
  return ReduceWith(call, kOp, call.arg(0));
}

// all and any of booleans are the least and the greatest of them.
template <auto kOp>
const Expr* BuildLogicalReduce(OpCall& call) {
  const Expr* reduced = ReduceWith(call, kOp, call.Cast(call.arg(0), DataType::Int(8)));
  return call.Cast(reduced, DataType::Bool());
}

// The index along several axes is that in the tensor with these axes joined.
template <auto kOp>
const Expr* BuildArgReduce(OpCall& call) {
  const auto axes = AxesOf(call);
  if (!axes) return nullptr;
  const Expr* data = call.arg(0);
  const auto dims = DimsOf(data);
  if (!dims) return call.Error("type-inference", "the shape of the operand is unknown");
  DimList kept;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < static_cast<int64_t>(dims->size()); ++i) {
    if (std::ranges::find(*axes, i) == axes->end()) order.push_back(i);
  }
  for (const int64_t i : order) kept.push_back((*dims)[static_cast<size_t>(i)]);
  DimList joined{arith::PrimBuilder().Int(1)};
  for (const int64_t axis : *axes) joined.push_back((*dims)[static_cast<size_t>(axis)]);
  int64_t axis = axes->size() == 1 ? axes->front() : static_cast<int64_t>(kept.size());
  if (axes->size() != 1) {
    order.insert(order.end(), axes->begin(), axes->end());
    DimList shape = kept;
    shape.push_back(Product(joined));
    data = call.Reshape(call.Permute(data, order), shape);
  }
  const bool last = call.Bool("select_last_index");
  const Expr* searched = last ? op::Flip(call, data, {.axis = axis}) : data;
  const Expr* index = kOp(call, searched, {.axis = axis, .keepdims = false});
  index = call.Cast(index, DataType::Int(32));
  if (last) {
    const int64_t* size = arith::AsInt(Product(joined));
    if (size == nullptr) return call.NoCounterpart("select_last_index along an unknown dimension");
    index = op::Subtract(call, call.Scalar(*size - 1, DataType::Int(32)), index);
  }
  if (!call.Bool("keepdims")) return index;
  DimList shape = *dims;
  for (const int64_t i : *axes) shape[static_cast<size_t>(i)] = arith::PrimBuilder().Int(1);
  return call.Reshape(index, shape);
}

// The mean of (data - mean)^2, or with n - 1 instead of n.
const Expr* BuildVariance(OpCall& call) {
  const auto axes = AxesOf(call);
  if (!axes) return nullptr;
  const Expr* difference = op::Subtract(call, call.arg(0), call.arg(1));
  const Expr* squares = op::Multiply(call, difference, difference);
  if (!call.Bool("unbiased")) return ReduceWith(call, op::Mean, squares);
  const Expr* sum = ReduceWith(call, op::Sum, squares);
  const auto dims = DimsOf(call.arg(0));
  if (!dims || sum == nullptr)
    return sum ? call.Error("type-inference", "the shape of the operand is unknown") : nullptr;
  DimList counted{arith::PrimBuilder().Int(1)};
  for (const int64_t axis : *axes) counted.push_back((*dims)[static_cast<size_t>(axis)]);
  const DataType dtype = DTypeOf(sum);
  if (const int64_t* count = arith::AsInt(Product(counted)))
    return op::Divide(call, sum, call.Scalar(static_cast<double>(*count - 1), dtype));
  // The number of elements is known when the function runs.
  const Expr* ones = ReduceWith(call, op::Sum, op::OnesLike(call, call.arg(0)));
  return op::Divide(call, sum, op::Subtract(call, ones, call.Scalar(1.0, dtype)));
}

template <auto kOp>
const Expr* BuildScan(OpCall& call) {
  return kOp(call, call.arg(0),
             {.axis = call.OptInt("axis"), .dtype = call.Dtype("dtype"), .exclusive = call.Bool("exclusive")});
}

constexpr OperatorRow kReduce[] = {
    {"all", "data", "axis=None, keepdims=False, exclude=False", BuildLogicalReduce<op::Min>},
    {"any", "data", "axis=None, keepdims=False, exclude=False", BuildLogicalReduce<op::Max>},
    {"argmax", "data", "axis=None, keepdims=False, select_last_index=False, exclude=False", BuildArgReduce<op::Argmax>},
    {"argmin", "data", "axis=None, keepdims=False, select_last_index=False, exclude=False", BuildArgReduce<op::Argmin>},
    {"cumprod", "data", "axis=None, dtype=\"\", exclusive=False", BuildScan<op::Cumprod>},
    {"cumsum", "data", "axis=None, dtype=\"\", exclusive=False", BuildScan<op::Cumsum>},
    {"max", "data", "axis=None, keepdims=False, exclude=False", BuildReduce<op::Max>},
    {"mean", "data", "axis=None, keepdims=False, exclude=False", BuildReduce<op::Mean>},
    {"min", "data", "axis=None, keepdims=False, exclude=False", BuildReduce<op::Min>},
    {"prod", "data", "axis=None, keepdims=False, exclude=False", BuildReduce<op::Prod>},
    {"sum", "data", "axis=None, keepdims=False, exclude=False", BuildReduce<op::Sum>},
    {"variance", "data, mean", "axis=None, keepdims=False, exclude=False, unbiased=False", BuildVariance},
};

}  // namespace

std::span<const OperatorRow> ReduceOperators() { return kReduce; }

}  // namespace iropt::relay
