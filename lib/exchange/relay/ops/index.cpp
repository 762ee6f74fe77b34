// Operators that select elements, and orders of elements.
#include "iropt/infer/ops/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "dims.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/binary.h"
#include "iropt/infer/ops/broadcast.h"
#include "iropt/infer/ops/gather.h"
#include "iropt/infer/ops/repeat.h"
#include "iropt/infer/ops/slice.h"
#include "iropt/infer/ops/sorting.h"
#include "iropt/infer/ops/unary.h"
#include "op_table.h"
#include "shape_values.h"

namespace iropt::relay {

namespace {

// ---- Slices

// Relay reads begins and ends of the first axes if it gets no axes; None and missing numbers stand for the whole axis.
const Expr* BuildStridedSlice(OpCall& call) {
  const int rank = RankOf(call.arg(0));
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
  const auto dims = DimsOf(call.arg(0));
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
  // Strides that are left out stay so.
  if (!call.has("strides")) return call.Slice(call.arg(0), kept, from, to);
  return call.Slice(call.arg(0), kept, from, to, steps);
}

const Expr* BuildSliceLike(OpCall& call) {
  const auto dims = DimsOf(call.arg(0));
  const auto like = DimsOf(call.arg(1));
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
  return call.Slice(call.arg(0), axes, begin, end, strides);
}

// ---- Elements by index

// Indices that Relay's modes bring into range: clip to the nearest, wrap around.
const Expr* IndicesInRange(OpCall& call, const Expr* indices, const PrimExpr* size) {
  const DataType dtype = DTypeOf(indices);
  const std::string_view mode = call.String("mode");
  const int64_t* count = arith::AsInt(size);
  if (mode == "fast" || count == nullptr || indices == nullptr) return indices;
  if (mode == "clip") {
    return op::Clip(call, indices, call.Prim(int64_t{0}), call.Prim(*count - 1));
  }
  return op::FloorMod(call, indices, call.Scalar(*count, dtype));
}

// With batch dimensions: takes from the tensor of all combinations, and keeps those of equal batches.
const Expr* TakeOfBatches(OpCall& call, int64_t axis, int64_t batch) {
  const auto data = DimsOf(call.arg(0));
  const auto indices = DimsOf(call.arg(1));
  if (!data || !indices) return call.Error("type-inference", "the shape of an operand is unknown");
  const int64_t most = std::min(axis, static_cast<int64_t>(indices->size()));
  if (batch > most)
    return call.Error("bad-argument", fmt::format("batch_dims is {}: expected at most {}", batch, most));
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
  positions = op::BroadcastTo(call, call.Reshape(positions, picks), call.Shape(all));
  const Expr* rows = call.Reshape(call.arg(0), flat);
  const Expr* taken = op::GatherElements(call, rows, positions, {.axis = 2});
  DimList shape(data->begin(), data->begin() + a);
  shape.insert(shape.end(), indices->begin() + b, indices->end());
  shape.insert(shape.end(), data->begin() + a + 1, data->end());
  return call.Reshape(taken, shape);
}

const Expr* BuildTake(OpCall& call) {
  const Expr* data = call.arg(0);
  int64_t axis = 0;
  if (call.has("axis")) {
    const auto at = call.Axis(call.Int("axis"), RankOf(data));
    if (!at) return nullptr;
    axis = *at;
  } else {
    data = call.Flat(data);
  }
  int64_t batch = call.Int("batch_dims");
  if (batch < 0) batch += RankOf(call.arg(1));
  if (batch > 0 && call.has("axis")) return TakeOfBatches(call, axis, batch);
  const auto dims = DimsOf(data);
  if (data == nullptr || !dims) return call.Error("type-inference", "the shape of the operand is unknown");
  const std::string_view mode = call.String("mode");
  const Expr* indices = call.arg(1);
  // Relax takes scalars as they are.
  return op::Take(call, data, indices, {.axis = axis, .mode = mode});
}

const Expr* BuildGather(OpCall& call) {
  return op::GatherElements(call, call.arg(0), call.arg(1), {.axis = call.Int("axis")});
}

// Relay has the coordinates of an element along the first axis, Relax along the last one.
const Expr* BuildGatherNd(OpCall& call) {
  const int rank = RankOf(call.arg(1));
  if (rank == kUnknownDim) return call.Error("type-inference", "the rank of the indices is unknown");
  if (rank == 0) return call.Error("type-inference", "the indices have no axis of coordinates");
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  std::rotate(axes.begin(), axes.begin() + 1, axes.end());
  const Expr* indices = rank > 1 ? call.Permute(call.arg(1), axes) : call.arg(1);
  return op::GatherNd(call, call.arg(0), call.Cast(indices, DataType::Int(64)), {.batch_dims = call.Int("batch_dims")});
}

const Expr* BuildWhere(OpCall& call) {
  return op::Where(call, call.Cast(call.arg(0), DataType::Bool()), call.arg(1), call.arg(2));
}

// Relay gives an index for each row, Relax one for each column.
const Expr* BuildArgwhere(OpCall& call) {
  return call.Cast(op::PermuteDims(call, op::Nonzero(call, call.arg(0))), kInt32);
}

const Expr* BuildOneHot(OpCall& call) {
  const DataType dtype = DataType::Parse(call.String("dtype")).value_or(DataType::Float(32));
  const auto prim = [&](const Expr* value) -> const Expr* {
    const arith::PrimBuilder make;
    if (const auto integer = ConstantInt(value))
      return call.Prim(dtype.is_floating() ? make.Float(static_cast<double>(*integer), dtype)
                                           : make.Int(*integer, dtype));
    if (const auto real = ConstantFloat(value)) return call.Prim(make.Float(*real, dtype));
    return nullptr;
  };
  const OneHotAttrs::Values classes{.depth = call.Int("depth"), .axis = call.Int("axis")};
  const Expr* on = prim(call.arg(1));
  const Expr* off = prim(call.arg(2));
  if (on && off) return op::OneHot(call, call.arg(0), on, off, classes);
  const arith::PrimBuilder make;
  const Expr* hot =
      op::OneHot(call, call.arg(0), call.Prim(make.Int(1, kInt32)), call.Prim(make.Int(0, kInt32)), classes);
  const Expr* is_hot = call.Cast(hot, DataType::Bool());
  return op::Where(call, is_hot, call.Cast(call.arg(1), dtype), call.Cast(call.arg(2), dtype));
}

// ---- Orders

DataType IndexDType(OpCall& call) {
  const DataType dtype = call.Dtype("dtype");
  return dtype.is_void() ? kInt32 : dtype;
}

const Expr* BuildArgsort(OpCall& call) {
  return op::Argsort(call, call.arg(0),
                     {.axis = call.Int("axis"), .descending = !call.Bool("is_ascend"), .dtype = IndexDType(call)});
}

const Expr* BuildSort(OpCall& call) {
  return op::Sort(call, call.arg(0), {.axis = call.Int("axis"), .descending = !call.Bool("is_ascend")});
}

const Expr* BuildTopk(OpCall& call) {
  return op::Topk(call, call.arg(0),
                  {.k = call.Int("k"),
                   .axis = call.Int("axis"),
                   .ret_type = call.String("ret_type"),
                   .largest = !call.Bool("is_ascend"),
                   .dtype = IndexDType(call)});
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
