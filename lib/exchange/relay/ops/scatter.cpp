// Operators that write elements by index, and that search for elements.
#include <numeric>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/binary.h"
#include "iropt/infer/ops/broadcast.h"
#include "iropt/infer/ops/create.h"
#include "iropt/infer/ops/gather.h"
#include "iropt/infer/ops/index.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/scan.h"
#include "iropt/infer/ops/slice.h"
#include "iropt/infer/ops/sorting.h"
#include "iropt/infer/ops/statistical.h"
#include "iropt/infer/ops/unary.h"
#include "relay_builder.h"
#include "shape_values.h"

namespace iropt::relay {

namespace {

using Value = const Expr*;

const Expr* BuildScatterElements(OpCall& call) {
  return op::ScatterElements(call, call.arg(0), call.arg(1), call.arg(2),
                             {.axis = call.Int("axis"), .reduction = call.String("reduction")});
}

// The first axis after the others: Relay has the coordinates of an element along it, Relax along the last one.
Value CoordinatesLast(OpCall& call, Value indices) {
  const int rank = RankOf(indices);
  if (rank == kUnknownDim) return call.Error("type-inference", "the rank of the indices is unknown");
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 1);
  if (rank > 0) axes.back() = 0;
  Value moved = rank > 1 ? call.Permute(indices, axes) : indices;
  return call.Cast(moved, kInt64);
}

const Expr* BuildScatterNd(OpCall& call) {
  Value indices = CoordinatesLast(call, call.arg(1));
  Value updates = call.arg(2);
  const auto data = DimsOf(call.arg(0));
  const auto places = indices ? DimsOf(indices) : std::nullopt;
  const int64_t* count = places && !places->empty() ? arith::AsInt(places->back()) : nullptr;
  if (data && count != nullptr && *count <= static_cast<int64_t>(data->size())) {
    DimList dims(places->begin(), places->end() - 1);
    dims.insert(dims.end(), data->begin() + *count, data->end());
    updates = WithDims(call, updates, dims);
  }
  return op::ScatterNd(call, call.arg(0), indices, updates, {.reduction = call.String("mode")});
}

// The values at the indices, a row for each of them or a number, in a tensor of the default.
const Expr* SparseToDense(OpCall& call, const DimList& shape, Value default_value) {
  Value indices = call.Cast(call.arg(0), kInt64);
  Value values = call.arg(1);
  const DataType dtype = DTypeOf(values);
  const int rank = RankOf(indices);
  if (rank == 0) indices = call.Reshape(indices, {1, 1});
  if (rank == 1) indices = call.ExpandDims(indices, {1});
  const auto rows = indices ? DimsOf(indices) : std::nullopt;
  if (!rows) return call.Error("type-inference", "the shape of the indices is unknown");
  const arith::PrimBuilder make;
  const DimList count{rows->front()};
  if (RankOf(values) == 0) {
    values = op::BroadcastTo(call, values, call.Shape(count));
  } else {
    values = WithDims(call, values, count);
  }
  const DimList places{count.front(), make.Int(static_cast<int64_t>(shape.size()))};
  indices = WithDims(call, indices, places);
  Value dense = op::Full(call, call.Shape(shape), call.Cast(default_value, dtype));
  return op::ScatterNd(call, dense, indices, values, {.reduction = "update"});
}

const Expr* BuildSparseToDense(OpCall& call) {
  const arith::PrimBuilder make;
  DimList shape;
  for (const int64_t size : call.Ints("output_shape")) shape.push_back(make.Int(size));
  return SparseToDense(call, shape, call.arg(2));
}

const Expr* BuildDynSparseToDense(OpCall& call) {
  const auto shape = DimsFrom(call, call.arg(3));
  return shape ? SparseToDense(call, *shape, call.arg(2)) : nullptr;
}

// ---- Slices

// The elements of a vector, with a scalar for those that it does not have.
class SliceBounds {
 public:
  SliceBounds(OpCall& call, Value numbers) : call_(call), numbers_(call.Cast(numbers, kInt64)) {
    const auto length = StaticDimsOf(numbers);
    length_ = length && length->size() == 1 ? length->front() : -1;
  }

  bool is_known() const { return length_ >= 0; }
  Value At(int64_t axis, Value otherwise) {
    if (axis >= length_) return otherwise;
    return op::Take(call_, numbers_, call_.Scalar(axis, kInt64), {.axis = 0});
  }

 private:
  OpCall& call_;
  Value numbers_;
  int64_t length_ = -1;
};

// Each element of the data is that of `v` if its position is in the slice.
const Expr* BuildStridedSet(OpCall& call) {
  RelayBuilder relay(call);
  Value data = call.arg(0);
  Value values = call.arg(1);
  SliceBounds begins(call, call.arg(2));
  SliceBounds ends(call, call.arg(3));
  SliceBounds strides(call, call.arg(4));
  const auto dims = DimsOf(data);
  if (!dims || !begins.is_known() || !ends.is_known() || !strides.is_known())
    return call.NoCounterpart("a slice of an unknown number of dimensions");
  const int rank = static_cast<int>(dims->size());
  Value zero = relay.Int(0, kInt64);
  Value chosen = nullptr;
  for (int64_t axis = 0; axis < rank; ++axis) {
    Value size = SizeOfAxis(call, data, axis, kInt64);
    Value step = strides.At(axis, relay.Int(1, kInt64));
    Value forward = op::Greater(call, step, zero);
    const auto bound = [&](SliceBounds& bounds, Value up, Value down) {
      Value number = bounds.At(axis, relay.Where(forward, up, down));
      return relay.Where(relay.Less(number, zero), relay.Add(number, size), number);
    };
    Value begin = bound(begins, zero, size);
    Value one_more = relay.Add(size, relay.Int(1, kInt64));
    Value end = bound(ends, one_more, relay.Unary("negative", one_more));
    Value place = call.Iota((*dims)[static_cast<size_t>(axis)], kInt64);
    Value from_begin = relay.Subtract(place, begin);
    Value up = op::LogicalAnd(call, relay.GreaterEqual(place, begin), relay.Less(place, end));
    Value down = op::LogicalAnd(call, op::LessEqual(call, place, begin), op::Greater(call, place, end));
    Value is_step = relay.Equal(op::FloorMod(call, from_begin, step), zero);
    Value inside = op::LogicalAnd(call, relay.Where(forward, up, down), is_step);
    Value count = SizeOfAxis(call, values, axis, kInt64);
    Value index = op::FloorDivide(call, from_begin, step);
    index = op::Minimum(call, op::Maximum(call, index, zero), relay.Subtract(count, relay.Int(1, kInt64)));
    values = op::Take(call, values, index, {.axis = axis});
    inside = AlongAxis(call, inside, axis, rank);
    chosen = chosen ? op::LogicalAnd(call, chosen, inside) : inside;
  }
  return chosen ? relay.Where(chosen, values, data) : values;
}

// ---- Indices

const Expr* BuildAdvIndex(OpCall& call) {
  const std::vector<Value> operands = call.Fields(call.arg(0));
  if (operands.size() < 2) return call.Error("bad-argument", "needs a tensor and indices");
  return op::IndexTensor(call, operands.front(), call.MakeTuple(std::span(operands).subspan(1)));
}

// The position of each element in the order.
const Expr* BuildInvertPermutation(OpCall& call) {
  return op::Argsort(call, call.arg(0), {.dtype = DTypeOf(call.arg(0))});
}

const Expr* BuildUnravelIndex(OpCall& call) {
  Value indices = call.arg(0);
  const DataType dtype = DTypeOf(indices);
  const int rank = RankOf(indices);
  Value shape = call.Cast(call.arg(1), dtype);
  if (const auto sizes = ConstantInts(call.arg(1))) shape = call.IntTensor(*sizes, dtype);
  const auto along_first = [&](Value vector) { return AlongAxis(call, vector, 0, rank + 1); };
  Value flat = call.ExpandDims(indices, {0});
  Value quotients = op::FloorDivide(call, flat, along_first(WeightsOf(call, shape)));
  return op::FloorMod(call, quotients, along_first(shape));
}

// The new shape, with the number that -1 stands for, and the coordinates in it of the same elements.
const Expr* BuildSparseReshape(OpCall& call) {
  RelayBuilder relay(call);
  const DataType dtype = DTypeOf(call.arg(0));
  Value from = call.Cast(call.arg(1), dtype);
  Value to = call.Cast(call.arg(2), dtype);
  Value known = op::Abs(call, op::Prod(call, to));
  Value rest = op::FloorDivide(call, op::Prod(call, from), known);
  to = relay.Where(relay.Less(to, relay.Int(0, dtype)), rest, to);
  Value flat = op::Sum(call, relay.Multiply(call.arg(0), WeightsOf(call, from)), {.axis = Ints{1}, .keepdims = true});
  Value indices = op::FloorMod(call, op::FloorDivide(call, flat, WeightsOf(call, to)), to);
  const Value results[] = {indices, call.Cast(to, DTypeOf(call.arg(2)))};
  return call.MakeTuple(results);
}

// The number of elements of the sorted sequence that come before a value.
const Expr* BuildSearchSorted(OpCall& call) {
  RelayBuilder relay(call);
  Value sequence = call.arg(0);
  Value values = call.arg(1);
  const auto dtype = DataType::Parse(call.String("dtype")).value_or(DataType::Int(32));
  const bool right = call.Bool("right");
  if (RankOf(sequence) == 1) {
    Value found = op::Bucketize(call, values, sequence, {.out_int32 = true, .right = right});
    return call.Cast(found, dtype);
  }
  Value rows = call.ExpandDims(sequence, {-2});
  Value columns = call.ExpandDims(values, {-1});
  Value before = right ? op::LessEqual(call, rows, columns) : relay.Less(rows, columns);
  return op::Sum(call, call.Cast(before, dtype), {.axis = Ints{-1}});
}

// Sorted, each element that differs from the one before begins a group. Results have the size of the operand: the
// elements of the groups, the first position of each, the group of each element, the number of groups, and their sizes.
class UniqueElements {
 public:
  explicit UniqueElements(OpCall& call) : call_(call), relay_(call), data_(call.arg(0)) {}

  Value Build() {
    const auto dims = DimsOf(data_);
    if (!dims || dims->size() != 1) return call_.Error("type-inference", "the operand is not a vector of known size");
    size_ = SizeOfAxis(call_, data_, 0, kIndex);
    places_ = call_.Iota(dims->front(), kInt32);
    Value order = Order(data_);
    Value sorted = Take(data_, order);
    Value before = Take(sorted, op::Maximum(call_, relay_.Subtract(places_, relay_.Int(1)), relay_.Int(0)));
    Value begins = call_.Cast(op::NotEqual(call_, sorted, before), kIndex);
    Value group = op::Cumsum(call_, begins, {.axis = 0});
    Value elements = Scatter(op::ZerosLike(call_, data_), group, sorted, "update");
    Value positions = Scatter(op::FullLike(call_, places_, size_), group, order, "min");
    Value groups = Scatter(Zeros(), order, group, "update");
    Value counts = Scatter(Zeros(), group, op::OnesLike(call_, places_), "add");
    if (!call_.Bool("sorted")) {
      Value by_position = Order(positions);
      elements = Take(elements, by_position);
      counts = Take(counts, by_position);
      groups = Take(Order(by_position), groups);
      positions = Take(positions, by_position);
    }
    Value number = relay_.Add(op::Max(call_, group, {.keepdims = true}), relay_.Int(1));
    std::vector<Value> results{elements, positions, groups, number};
    if (call_.Bool("return_counts")) results.push_back(counts);
    return call_.MakeTuple(results);
  }

 private:
  static constexpr DataType kIndex = DataType::Int(32);

  Value Order(Value keys) { return op::Argsort(call_, keys, {.dtype = kInt32}); }
  Value Take(Value values, Value indices) { return op::Take(call_, values, indices, {.axis = 0}); }
  Value Zeros() { return op::ZerosLike(call_, places_); }
  Value Scatter(Value into, Value indices, Value values, std::string_view reduction) {
    return op::ScatterElements(call_, into, indices, values, {.axis = 0, .reduction = reduction});
  }

  OpCall& call_;
  RelayBuilder relay_;
  Value data_;
  Value size_ = nullptr;
  Value places_ = nullptr;
};

const Expr* BuildUnique(OpCall& call) { return UniqueElements(call).Build(); }

const Expr* BuildSparseFillEmptyRows(OpCall& call) { return call.NoCounterpart("sparse tensors with filled rows"); }

constexpr OperatorRow kScatter[] = {
    {"adv_index", "inputs", "", BuildAdvIndex},
    {"dyn.sparse_to_dense", "sparse_indices, sparse_values, default_value, output_shape", "output_shape=None",
     BuildDynSparseToDense},
    {"invert_permutation", "data", "", BuildInvertPermutation},
    {"scatter_elements", "data, indices, updates", "axis=0, reduction=\"update\"", BuildScatterElements},
    {"scatter_nd", "data, indices, updates", "mode=\"update\"", BuildScatterNd},
    {"searchsorted", "sorted_sequence, values", "right=False, dtype=\"int32\"", BuildSearchSorted},
    {"sparse_fill_empty_rows", "sparse_indices, sparse_values, dense_shape, default_value", "",
     BuildSparseFillEmptyRows},
    {"sparse_reshape", "sparse_indices, prev_shape, new_shape", "", BuildSparseReshape},
    {"sparse_to_dense", "sparse_indices, sparse_values, default_value", "output_shape", BuildSparseToDense},
    {"strided_set", "data, v, begin, end, strides", "", BuildStridedSet},
    {"unique", "data", "sorted=True, return_counts=False", BuildUnique},
    {"unravel_index", "data, shape", "", BuildUnravelIndex},
};

}  // namespace

std::span<const OperatorRow> ScatterOperators() { return kScatter; }

}  // namespace iropt::relay
