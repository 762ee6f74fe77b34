// Reductions over axes.
#include <algorithm>

#include "dims.h"
#include "iropt/arith/prim_builder.h"
#include "op_table.h"

namespace iropt::relay {

namespace {

// The axes of a reduction: all of them if none is given, the others if `exclude`. Nothing after an error.
std::optional<std::vector<int64_t>> AxesOf(OpCall& call) {
  const int rank = call.Rank(call.arg(0));
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

const Expr* ReduceWith(OpCall& call, std::string_view name, const Expr* operand) {
  const auto axes = AxesOf(call);
  if (!axes || operand == nullptr) return nullptr;
  const bool all = static_cast<int>(axes->size()) == call.Rank(call.arg(0));
  // Without an axis, nothing is reduced.
  if (axes->empty() && !all) return operand;
  const PyValue axis = all ? PyValue() : call.ListOf(*axes);
  return call.Make(name, {operand}, {{"axis", axis}, {"keepdims", call.Bool("keepdims")}});
}

const Expr* BuildReduce(OpCall& call) { return ReduceWith(call, call.row().name, call.arg(0)); }

// all and any of booleans are the least and the greatest of them.
const Expr* BuildLogicalReduce(OpCall& call, std::string_view name) {
  const Expr* reduced = ReduceWith(call, name, call.Cast(call.arg(0), DataType::Int(8)));
  return call.Cast(reduced, DataType::Bool());
}
const Expr* BuildAll(OpCall& call) { return BuildLogicalReduce(call, "min"); }
const Expr* BuildAny(OpCall& call) { return BuildLogicalReduce(call, "max"); }

// The index along several axes is that in the tensor with these axes joined.
const Expr* BuildArgReduce(OpCall& call) {
  const auto axes = AxesOf(call);
  if (!axes) return nullptr;
  const Expr* data = call.arg(0);
  const auto dims = call.Dims(data);
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
    data =
        call.Make("reshape", {call.Make("permute_dims", {data}, {{"axes", call.ListOf(order)}}), call.ListOf(shape)});
  }
  const bool last = call.Bool("select_last_index");
  const Expr* searched = last ? call.Make("flip", {data}, {{"axis", axis}}) : data;
  const Expr* index = call.Make(call.row().name, {searched}, {{"axis", axis}, {"keepdims", false}});
  index = call.Cast(index, DataType::Int(32));
  if (last) {
    const int64_t* size = arith::AsInt(Product(joined));
    if (size == nullptr) return call.NoCounterpart("select_last_index along an unknown dimension");
    index = call.Make("subtract", {call.Scalar(*size - 1, DataType::Int(32)), index});
  }
  if (!call.Bool("keepdims")) return index;
  DimList shape = *dims;
  for (const int64_t i : *axes) shape[static_cast<size_t>(i)] = arith::PrimBuilder().Int(1);
  return call.Make("reshape", {index, call.ListOf(shape)});
}

// The mean of (data - mean)^2, or with n - 1 instead of n.
const Expr* BuildVariance(OpCall& call) {
  const auto axes = AxesOf(call);
  if (!axes) return nullptr;
  const Expr* difference = call.Make("subtract", {call.arg(0), call.arg(1)});
  const Expr* squares = call.Make("multiply", {difference, difference});
  if (!call.Bool("unbiased")) return ReduceWith(call, "mean", squares);
  const Expr* sum = ReduceWith(call, "sum", squares);
  const auto dims = call.Dims(call.arg(0));
  if (!dims || sum == nullptr)
    return sum ? call.Error("type-inference", "the shape of the operand is unknown") : nullptr;
  DimList counted{arith::PrimBuilder().Int(1)};
  for (const int64_t axis : *axes) counted.push_back((*dims)[static_cast<size_t>(axis)]);
  const DataType dtype = call.DType(sum);
  if (const int64_t* count = arith::AsInt(Product(counted)))
    return call.Make("divide", {sum, call.Scalar(static_cast<double>(*count - 1), dtype)});
  // The number of elements is known when the function runs.
  const Expr* ones = ReduceWith(call, "sum", call.Make("ones_like", {call.arg(0)}));
  return call.Make("divide", {sum, call.Make("subtract", {ones, call.Scalar(1.0, dtype)})});
}

const Expr* BuildScan(OpCall& call) {
  return call.Make(call.row().name, {call.arg(0)},
                   {{"axis", call.attr("axis")},
                    {"dtype", call.String("dtype").empty() ? PyValue() : call.attr("dtype")},
                    {"exclusive", call.Bool("exclusive")}});
}

constexpr OperatorRow kReduce[] = {
    {"all", "data", "axis=None, keepdims=False, exclude=False", BuildAll},
    {"any", "data", "axis=None, keepdims=False, exclude=False", BuildAny},
    {"argmax", "data", "axis=None, keepdims=False, select_last_index=False, exclude=False", BuildArgReduce},
    {"argmin", "data", "axis=None, keepdims=False, select_last_index=False, exclude=False", BuildArgReduce},
    {"cumprod", "data", "axis=None, dtype=\"\", exclusive=False", BuildScan},
    {"cumsum", "data", "axis=None, dtype=\"\", exclusive=False", BuildScan},
    {"max", "data", "axis=None, keepdims=False, exclude=False", BuildReduce},
    {"mean", "data", "axis=None, keepdims=False, exclude=False", BuildReduce},
    {"min", "data", "axis=None, keepdims=False, exclude=False", BuildReduce},
    {"prod", "data", "axis=None, keepdims=False, exclude=False", BuildReduce},
    {"sum", "data", "axis=None, keepdims=False, exclude=False", BuildReduce},
    {"variance", "data, mean", "axis=None, keepdims=False, exclude=False, unbiased=False", BuildVariance},
};

}  // namespace

std::span<const OperatorRow> ReduceOperators() { return kReduce; }

}  // namespace iropt::relay
