// Operators that select elements, and orders of elements.
#include <algorithm>
#include <numeric>

#include "dims.h"
#include "iropt/arith/prim_builder.h"
#include "op_table.h"
#include "shape_values.h"

namespace iropt::relay {

namespace {

// ---- Slices

// Relay reads begins and ends of the first axes if it gets no axes; None and missing numbers stand for the whole axis.
const Expr* BuildStridedSlice(OpCall& call) {
  const int rank = call.Rank(call.arg(0));
  if (rank == kUnknownDim) return call.Error("type-inference", "the rank of the operand is unknown");
  const std::vector<int64_t> begin = call.Ints("begin");
  const std::vector<int64_t> end = call.Ints("end");
  const std::vector<int64_t> strides = call.Ints("strides");
  std::vector<int64_t> axes = call.Ints("axes");
  const bool by_size = call.String("slice_mode") == "size";
  if (!call.has("axes")) {
    axes.resize(std::min(std::max(begin.size(), end.size()), static_cast<size_t>(rank)));
    std::iota(axes.begin(), axes.end(), 0);
  }
  const auto dims = call.Dims(call.arg(0));
  std::vector<int64_t> kept, from, to, steps;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = call.Axis(axes[i], rank);
    if (!axis) return nullptr;
    kept.push_back(*axis);
    const int64_t step = by_size || strides.empty() ? 1 : strides[std::min(i, strides.size() - 1)];
    steps.push_back(by_size || i < strides.size() || strides.size() == 1 ? step : 1);
    from.push_back(i < begin.size() ? begin[i] : (steps.back() < 0 ? INT64_MAX : 0));
    const int64_t none = steps.back() < 0 ? INT64_MIN : INT64_MAX;
    if (i >= end.size()) {
      to.push_back(none);
    } else if (by_size) {
      to.push_back(end[i] < 0 ? INT64_MAX : from.back() + end[i]);
    } else {
      to.push_back(end[i]);
    }
    // The size of a whole axis of unknown size would be a minimum.
    const bool is_whole = from.back() == 0 && to.back() >= INT32_MAX && steps.back() == 1;
    if (!is_whole || !dims || arith::AsInt((*dims)[static_cast<size_t>(*axis)]) != nullptr) continue;
    for (std::vector<int64_t>* list : {&kept, &from, &to, &steps}) list->pop_back();
  }
  if (kept.empty()) return call.arg(0);
  const Operand axes_from_to[] = {call.arg(0), call.ListOf(kept), call.ListOf(from), call.ListOf(to),
                                  call.ListOf(steps)};
  // Strides that are left out stay so.
  const size_t count = call.has("strides") ? 5 : 4;
  return call.Make("strided_slice", std::span(axes_from_to, count), {});
}

const Expr* BuildSliceLike(OpCall& call) {
  const auto dims = call.Dims(call.arg(0));
  const auto like = call.Dims(call.arg(1));
  if (!dims || !like) return call.Error("type-inference", "the shape of an operand is unknown");
  std::vector<int64_t> axes = call.Ints("axes");
  if (axes.empty()) {
    axes.resize(like->size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  DimList begin, end, strides;
  const arith::PrimBuilder make;
  for (int64_t& axis : axes) {
    const auto at = call.Axis(axis, static_cast<int>(dims->size()));
    const auto of_like = call.Axis(axis, static_cast<int>(like->size()));
    if (!at || !of_like) return nullptr;
    axis = *at;
    begin.push_back(make.Int(0));
    strides.push_back(make.Int(1));
    end.push_back((*like)[static_cast<size_t>(*of_like)]);
  }
  return call.Make("strided_slice", {call.arg(0)},
                   {{"axes", call.ListOf(axes)},
                    {"begin", call.ListOf(begin)},
                    {"end", call.ListOf(end)},
                    {"strides", call.ListOf(strides)}});
}

// ---- Elements by index

// Indices that Relay's modes bring into range: clip to the nearest, wrap around.
const Expr* IndicesInRange(OpCall& call, const Expr* indices, const PrimExpr* size) {
  const DataType dtype = call.DType(indices);
  const std::string_view mode = call.String("mode");
  const int64_t* count = arith::AsInt(size);
  if (mode == "fast" || count == nullptr || indices == nullptr) return indices;
  if (mode == "clip") {
    return call.Make("clip", {indices, PyValue::Int(0, {}), PyValue::Int(*count - 1, {})});
  }
  return call.Make("floor_mod", {indices, call.Scalar(*count, dtype)});
}

// With batch dimensions: takes from the tensor of all combinations, and keeps those of equal batches.
const Expr* TakeOfBatches(OpCall& call, int64_t axis, int64_t batch) {
  const auto data = call.Dims(call.arg(0));
  const auto indices = call.Dims(call.arg(1));
  if (!data || !indices) return call.Error("type-inference", "the shape of an operand is unknown");
  const auto b = static_cast<ptrdiff_t>(batch);
  const auto a = static_cast<ptrdiff_t>(axis);
  const arith::PrimBuilder make;
  // Data as (batch, before, size, after), indices as (batch, 1, count, 1), as gather_elements wants them.
  const PrimExpr* batches = Product(std::span(*data).subspan(0, static_cast<size_t>(b)));
  const PrimExpr* before = Product(std::span(*data).subspan(static_cast<size_t>(b), static_cast<size_t>(a - b)));
  const PrimExpr* after = Product(std::span(*data).subspan(static_cast<size_t>(a) + 1));
  const PrimExpr* count = Product(std::span(*indices).subspan(static_cast<size_t>(b)));
  const PrimExpr* size = (*data)[static_cast<size_t>(a)];
  const DimList flat{batches, before, size, after};
  const DimList picks{batches, make.Int(1), count, make.Int(1)};
  const DimList all{batches, before, count, after};
  const Expr* positions = IndicesInRange(call, call.arg(1), size);
  positions = call.Make("broadcast_to", {call.Make("reshape", {positions, call.ListOf(picks)}), call.ListOf(all)});
  const Expr* rows = call.Make("reshape", {call.arg(0), call.ListOf(flat)});
  const Expr* taken = call.Make("gather_elements", {rows, positions}, {{"axis", 2}});
  DimList shape(data->begin(), data->begin() + a);
  shape.insert(shape.end(), indices->begin() + b, indices->end());
  shape.insert(shape.end(), data->begin() + a + 1, data->end());
  return call.Make("reshape", {taken, call.ListOf(shape)});
}

const Expr* BuildTake(OpCall& call) {
  const Expr* data = call.arg(0);
  int64_t axis = 0;
  if (call.has("axis")) {
    const auto at = call.Axis(call.Int("axis"), call.Rank(data));
    if (!at) return nullptr;
    axis = *at;
  } else {
    data = call.Make("reshape", {data, call.ListOf({-1})});
  }
  int64_t batch = call.Int("batch_dims");
  if (batch < 0) batch += call.Rank(call.arg(1));
  if (batch > 0 && call.has("axis")) return TakeOfBatches(call, axis, batch);
  const auto dims = call.Dims(data);
  if (data == nullptr || !dims) return call.Error("type-inference", "the shape of the operand is unknown");
  const std::string_view mode = call.String("mode");
  const Expr* indices = call.arg(1);
  // Relax takes scalars as they are.
  return call.Make("take", {data, indices}, {{"axis", axis}, {"mode", mode}});
}

const Expr* BuildGather(OpCall& call) {
  return call.Make("gather_elements", {call.arg(0), call.arg(1)}, {{"axis", call.Int("axis")}});
}

// Relay has the coordinates of an element along the first axis, Relax along the last one.
const Expr* BuildGatherNd(OpCall& call) {
  const int rank = call.Rank(call.arg(1));
  if (rank == kUnknownDim) return call.Error("type-inference", "the rank of the indices is unknown");
  if (rank == 0) return call.Error("type-inference", "the indices have no axis of coordinates");
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  std::rotate(axes.begin(), axes.begin() + 1, axes.end());
  const Expr* indices =
      rank > 1 ? call.Make("permute_dims", {call.arg(1)}, {{"axes", call.ListOf(axes)}}) : call.arg(1);
  return call.Make("gather_nd", {call.arg(0), call.Cast(indices, DataType::Int(64))},
                   {{"batch_dims", call.Int("batch_dims")}});
}

const Expr* BuildWhere(OpCall& call) {
  return call.Make("where", {call.Cast(call.arg(0), DataType::Bool()), call.arg(1), call.arg(2)});
}

// Relay gives an index for each row, Relax one for each column.
const Expr* BuildArgwhere(OpCall& call) {
  return call.Cast(call.Make("permute_dims", {call.Make("nonzero", {call.arg(0)})}), kInt32);
}

const Expr* BuildOneHot(OpCall& call) {
  const DataType dtype = DataType::Parse(call.String("dtype")).value_or(DataType::Float(32));
  const auto prim = [&](const Expr* value) -> std::optional<PyValue> {
    const arith::PrimBuilder make;
    if (const auto integer = OpCall::ConstantInt(value))
      return PyValue(dtype.is_floating() ? make.Float(static_cast<double>(*integer), dtype)
                                         : make.Int(*integer, dtype));
    if (const auto real = OpCall::ConstantFloat(value)) return PyValue(make.Float(*real, dtype));
    return std::nullopt;
  };
  const auto on = prim(call.arg(1));
  const auto off = prim(call.arg(2));
  if (on && off) {
    return call.Make("one_hot", {call.arg(0), *on, *off}, {{"depth", call.Int("depth")}, {"axis", call.Int("axis")}});
  }
  const arith::PrimBuilder make;
  const Expr* hot = call.Make(
      "one_hot", {call.arg(0), PyValue(make.Int(1, DataType::Int(32))), PyValue(make.Int(0, DataType::Int(32)))},
      {{"depth", call.Int("depth")}, {"axis", call.Int("axis")}});
  const Expr* is_hot = call.Cast(hot, DataType::Bool());
  return call.Make("where", {is_hot, call.Cast(call.arg(1), dtype), call.Cast(call.arg(2), dtype)});
}

// ---- Orders

PyValue IndexDType(OpCall& call) {
  const std::string_view dtype = call.String("dtype");
  return dtype.empty() ? PyValue::String("int32", {}) : PyValue::String(dtype, {});
}

const Expr* BuildArgsort(OpCall& call) {
  return call.Make("argsort", {call.arg(0)},
                   {{"axis", call.Int("axis")}, {"descending", !call.Bool("is_ascend")}, {"dtype", IndexDType(call)}});
}

const Expr* BuildSort(OpCall& call) {
  return call.Make("sort", {call.arg(0)}, {{"axis", call.Int("axis")}, {"descending", !call.Bool("is_ascend")}});
}

const Expr* BuildTopk(OpCall& call) {
  return call.Make("topk", {call.arg(0)},
                   {{"k", call.Int("k")},
                    {"axis", call.Int("axis")},
                    {"ret_type", call.String("ret_type")},
                    {"largest", !call.Bool("is_ascend")},
                    {"dtype", IndexDType(call)}});
}

constexpr OperatorRow kIndex[] = {
    {"argsort", "data", "axis=-1, is_ascend=True, dtype=\"\"", BuildArgsort},
    {"argwhere", "condition", "", BuildArgwhere},
    {"gather", "data, indices", "axis=0", BuildGather},
    {"gather_nd", "data, indices", "batch_dims=0, index_rank=None", BuildGatherNd},
    {"one_hot", "indices, on_value, off_value", "depth=1, axis=-1, dtype=\"\"", BuildOneHot},
    {"slice_like", "data, shape_like", "axes=None", BuildSliceLike},
    {"sort", "data", "axis=-1, is_ascend=True, dtype=\"\"", BuildSort},
    {"strided_slice", "data", "begin=None, end=None, strides=None, slice_mode=\"end\", axes=None", BuildStridedSlice},
    {"take", "data, indices", "batch_dims=0, axis=None, mode=\"clip\"", BuildTake},
    {"topk", "data", "k=1, axis=-1, ret_type=\"both\", is_ascend=False, dtype=\"\"", BuildTopk},
    {"where", "condition, x, y", "", BuildWhere},
};

}  // namespace

std::span<const OperatorRow> IndexOperators() { return kIndex; }

}  // namespace iropt::relay
