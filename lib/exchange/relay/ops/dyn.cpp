// Operators whose shapes are computed: their dimensions become symbolic variables.
#include <algorithm>
#include <numeric>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/binary.h"
#include "iropt/infer/ops/broadcast.h"
#include "iropt/infer/ops/create.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/slice.h"
#include "iropt/infer/ops/sorting.h"
#include "iropt/infer/ops/statistical.h"
#include "iropt/infer/ops/unary.h"
#include "relay_builder.h"
#include "shape_values.h"
#include "spatial.h"

namespace iropt::relay {

namespace {

using Value = const Expr*;

DataType StatedDType(OpCall& call, DataType otherwise) {
  const auto dtype = DataType::Parse(call.String("dtype"));
  return dtype && !dtype->is_void() ? *dtype : otherwise;
}

// ---- Creation

const Expr* BuildDynFull(OpCall& call) {
  const auto dims = DimsFrom(call, call.arg(1));
  if (!dims) return nullptr;
  const DataType dtype = StatedDType(call, DTypeOf(call.arg(0)));
  return op::Full(call, call.Shape(*dims), call.arg(0), {.dtype = dtype});
}

template <auto kOp>
const Expr* BuildDynOnesOrZeros(OpCall& call) {
  const auto dims = DimsFrom(call, call.arg(0));
  if (!dims) return nullptr;
  return kOp(call, call.Shape(*dims), {.dtype = StatedDType(call, kFloat32)});
}

const Expr* BuildDynOneHot(OpCall& call) {
  if (const auto depth = ConstantInt(call.arg(3))) {
    return call.Relay("one_hot", {call.arg(0), call.arg(1), call.arg(2)},
                      {{"depth", *depth}, {"axis", call.attr("axis")}, {"dtype", call.attr("dtype")}});
  }
  const int rank = RankOf(call.arg(0));
  const PrimExpr* depth = DimFrom(call, call.arg(3));
  const auto axis = call.Int("axis") < 0 ? std::optional(int64_t{rank}) : call.Axis(call.Int("axis"), rank + 1);
  if (!depth || !axis) return nullptr;
  RelayBuilder relay(call);
  const DataType dtype = StatedDType(call, DataType::Float(32));
  Value classes = call.Iota(depth, kInt64);
  classes = AlongAxis(call, classes, *axis, rank + 1);
  Value indices = call.ExpandDims(call.Cast(call.arg(0), kInt64), {*axis});
  return relay.Where(relay.Equal(indices, classes), call.Cast(call.arg(1), dtype), call.Cast(call.arg(2), dtype));
}

// ---- Shapes

// The vector with ones before it, so that it has `count` numbers.
Value PaddedFront(OpCall& call, Value vector, int64_t length, int64_t count) {
  if (length >= count) return vector;
  const std::vector<int64_t> ones(static_cast<size_t>(count - length), 1);
  const Value parts[] = {call.IntTensor(ones, kInt64), vector};
  return call.Concat(parts, 0);
}

// The number of elements of a vector; nothing after an error.
std::optional<int64_t> LengthOf(OpCall& call, Value vector) {
  const auto dims = StaticDimsOf(vector);
  if (dims && dims->size() == 1) return call.MayRepeat({dims->front()}) ? std::optional(dims->front()) : std::nullopt;
  call.NoCounterpart("a result with an unknown number of dimensions");
  return std::nullopt;
}

// The new shape with the numbers that 0 and -1 stand for.
Value CompleteShape(OpCall& call, Value data, Value shape, int64_t length) {
  RelayBuilder relay(call);
  const int64_t rank = RankOf(data);
  Value zero = relay.Int(0, kInt64);
  Value of_data = ShapeVector(call, data);
  if (!call.Bool("allowzero")) {
    Value copied = of_data;
    if (rank > length) {
      copied = call.Slice(of_data, {0}, {0}, {length});
    } else if (rank < length) {
      const std::vector<int64_t> ones(static_cast<size_t>(length - rank), 1);
      const Value parts[] = {of_data, call.IntTensor(ones, kInt64)};
      copied = call.Concat(parts, 0);
    }
    shape = relay.Where(relay.Equal(shape, zero), copied, shape);
  }
  Value known = op::Abs(call, op::Prod(call, shape));
  known = op::Maximum(call, known, relay.Int(1, kInt64));
  Value rest = op::FloorDivide(call, op::Prod(call, of_data), known);
  return relay.Where(relay.Less(shape, zero), rest, shape);
}

// A new shape may copy dimensions (0) and leave out one that follows from the others (-1).
const Expr* BuildDynReshape(OpCall& call) {
  if (const auto shape = ConstantInts(call.arg(1))) {
    return call.Relay("reshape", {call.arg(0)},
                      {{"newshape", call.ListOf(*shape)}, {"allowzero", call.attr("allowzero")}});
  }
  const auto length = LengthOf(call, call.arg(1));
  if (!length) return nullptr;
  if (RankOf(call.arg(0)) == kUnknownDim) return call.Error("type-inference", "the rank of the operand is unknown");
  if (const auto dims = DimsOfShape(call, call.arg(1))) return call.Reshape(call.arg(0), *dims);
  const auto dims = DimsFrom(call, CompleteShape(call, call.arg(0), call.Cast(call.arg(1), kInt64), *length));
  return dims ? call.Reshape(call.arg(0), *dims) : nullptr;
}

const Expr* BuildDynBroadcastTo(OpCall& call) {
  const auto dims = DimsFrom(call, call.arg(1));
  return dims ? op::BroadcastTo(call, call.arg(0), call.Shape(*dims)) : nullptr;
}

// Broadcasts (1, d0, 1, d1, ...) to (r0, d0, r1, d1, ...).
const Expr* BuildDynTile(OpCall& call) {
  if (const auto reps = ConstantInts(call.arg(1)))
    return call.Relay("tile", {call.arg(0)}, {{"reps", call.ListOf(*reps)}});
  const auto length = LengthOf(call, call.arg(1));
  auto dims = DimsOf(call.arg(0));
  if (!length) return nullptr;
  if (!dims) return call.Error("type-inference", "the shape of the operand is unknown");
  const arith::PrimBuilder make;
  const int64_t rank = std::max(*length, static_cast<int64_t>(dims->size()));
  dims->insert(dims->begin(), static_cast<size_t>(rank) - dims->size(), make.Int(1));
  const auto reps = DimsFrom(call, PaddedFront(call, call.Cast(call.arg(1), kInt64), *length, rank));
  if (!reps) return nullptr;
  DimList split, repeated, merged;
  for (size_t i = 0; i < dims->size(); ++i) {
    split.insert(split.end(), {make.Int(1), (*dims)[i]});
    repeated.insert(repeated.end(), {(*reps)[i], (*dims)[i]});
    merged.push_back(make.Mul((*reps)[i], (*dims)[i]));
  }
  Value parts = call.Reshape(call.arg(0), split);
  Value copies = op::BroadcastTo(call, parts, call.Shape(repeated));
  return call.Reshape(copies, merged);
}

Value Iota(OpCall& call, int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return call.IntTensor(numbers, kInt64);
}

// New axes of size 1 before the axis that is computed.
const Expr* BuildDynExpandDims(OpCall& call) {
  const int64_t added = call.Int("num_newaxis");
  const int rank = RankOf(call.arg(0));
  if (const auto axis = ConstantInt(call.arg(1)))
    return call.Relay("expand_dims", {call.arg(0)}, {{"axis", *axis}, {"num_newaxis", added}});
  if (rank == kUnknownDim || added < 0 || added > 32)
    return call.NoCounterpart("a result with an unknown number of dimensions");
  RelayBuilder relay(call);
  Value axis = call.Cast(call.arg(1), kInt64);
  Value from_end = relay.Add(axis, relay.Int(rank + 1, kInt64));
  axis = relay.Where(relay.Less(axis, relay.Int(0, kInt64)), from_end, axis);
  const std::vector<int64_t> ones(static_cast<size_t>(added), 1);
  Value more = call.IntTensor(ones, kInt64);
  const Value front[] = {more, ShapeVector(call, call.arg(0))};
  const Value back[] = {ShapeVector(call, call.arg(0)), more};
  Value after = call.Concat(front, 0);
  Value before = call.Concat(back, 0);
  Value places = Iota(call, rank + added);
  Value is_old = relay.GreaterEqual(places, relay.Add(axis, relay.Int(added, kInt64)));
  Value shape = relay.Where(is_old, after, relay.Int(1, kInt64));
  const auto dims = DimsFrom(call, relay.Where(relay.Less(places, axis), before, shape));
  return dims ? call.Reshape(call.arg(0), *dims) : nullptr;
}

// The axes that stay, in order: sorted one after the other, those that go after all of them.
const Expr* BuildDynSqueeze(OpCall& call) {
  if (const auto axes = ConstantInts(call.arg(1)))
    return call.Relay("squeeze", {call.arg(0)}, {{"axis", call.ListOf(*axes)}});
  const int rank = RankOf(call.arg(0));
  const auto count = LengthOf(call, call.arg(1));
  if (!count) return nullptr;
  if (rank == kUnknownDim) return call.Error("type-inference", "the rank of the operand is unknown");
  RelayBuilder relay(call);
  Value axes = op::FloorMod(call, call.Cast(call.arg(1), kInt64), relay.Int(rank, kInt64));
  Value places = Iota(call, rank);
  Value column = call.ExpandDims(places, {1});
  Value goes = op::Sum(call, call.Cast(relay.Equal(column, axes), kInt64), {.axis = Ints{1}});
  Value order = op::Sort(call, relay.Add(relay.Multiply(goes, relay.Int(rank, kInt64)), places));
  Value stay = call.Slice(order, {0}, {0}, {rank - *count});
  Value shape = op::Take(call, ShapeVector(call, call.arg(0)), stay, {.axis = 0});
  const auto dims = DimsFrom(call, shape);
  return dims ? call.Reshape(call.arg(0), *dims) : nullptr;
}

// ---- Parts

// The numbers with those of another vector after them, up to the rank.
Value Completed(OpCall& call, Value numbers, Value whole, int64_t rank) {
  numbers = call.Cast(numbers, kInt64);
  const auto length = LengthOf(call, numbers);
  if (!length) return nullptr;
  if (*length >= rank) return numbers;
  Value rest = call.Slice(whole, {0}, {*length}, {rank});
  const Value parts[] = {numbers, rest};
  return call.Concat(parts, 0);
}

const Expr* BuildDynStridedSlice(OpCall& call) {
  const auto begin = ConstantInts(call.arg(1));
  const auto end = ConstantInts(call.arg(2));
  const auto strides = ConstantInts(call.arg(3));
  if (begin && end && strides) {
    return call.Relay("strided_slice", {call.arg(0)},
                      {{"begin", call.ListOf(*begin)},
                       {"end", call.ListOf(*end)},
                       {"strides", call.ListOf(*strides)},
                       {"slice_mode", call.attr("slice_mode")}});
  }
  const int rank = RankOf(call.arg(0));
  if (rank == kUnknownDim) return call.Error("type-inference", "the rank of the operand is unknown");
  RelayBuilder relay(call);
  const std::vector<int64_t> zeros(static_cast<size_t>(rank), 0);
  const std::vector<int64_t> ones(static_cast<size_t>(rank), 1);
  Value shape = ShapeVector(call, call.arg(0));
  Value from = Completed(call, call.arg(1), call.IntTensor(zeros, kInt64), rank);
  Value to = Completed(call, call.arg(2), shape, rank);
  Value steps = Completed(call, call.arg(3), call.IntTensor(ones, kInt64), rank);
  if (call.String("slice_mode") == "size") {
    to = relay.Where(relay.Less(to, relay.Int(0, kInt64)), shape, relay.Add(from, to));
    steps = call.IntTensor(ones, kInt64);
  }
  return WithNamedDims(call, op::DynamicStridedSlice(call, call.arg(0), from, to, steps));
}

// All elements in order, then the first k of them.
const Expr* BuildDynTopk(OpCall& call) {
  if (const auto k = ConstantInt(call.arg(1))) {
    return call.Relay("topk", {call.arg(0)},
                      {{"k", *k},
                       {"axis", call.attr("axis")},
                       {"ret_type", call.attr("ret_type")},
                       {"is_ascend", call.attr("is_ascend")},
                       {"dtype", call.attr("dtype")}});
  }
  const auto axis = call.Axis(call.Int("axis"), RankOf(call.arg(0)));
  if (!axis) return nullptr;
  RelayBuilder relay(call);
  Value size = SizeOfAxis(call, call.arg(0), *axis, kInt64);
  Value k = call.Cast(call.arg(1), kInt64);
  k = op::Minimum(call, relay.Where(relay.Less(k, relay.Int(1, kInt64)), size, k), size);
  const PrimExpr* count = DimFrom(call, k);
  if (!count) return nullptr;
  Value all = call.Relay("topk", {call.arg(0)},
                         {{"k", -1},
                          {"axis", *axis},
                          {"ret_type", call.attr("ret_type")},
                          {"is_ascend", call.attr("is_ascend")},
                          {"dtype", call.attr("dtype")}});
  const arith::PrimBuilder make;
  const DimList zero{make.Int(0)};
  const DimList end{count};
  const auto first = [&](Value values) { return call.Slice(values, {*axis}, zero, end); };
  if (all == nullptr || call.String("ret_type") != "both") return first(all);
  const Value both[] = {first(call.Item(all, 0)), first(call.Item(all, 1))};
  return call.MakeTuple(both);
}

// ---- Growth

// Joins tensors of the value to both ends of each axis.
const Expr* BuildDynPad(OpCall& call) {
  Value data = call.arg(0);
  const int rank = RankOf(data);
  if (const auto widths = ConstantInts(call.arg(1))) {
    std::vector<PyValue> pairs;
    for (size_t i = 0; i + 1 < widths->size(); i += 2) pairs.push_back(call.ListOf({(*widths)[i], (*widths)[i + 1]}));
    return call.Relay("nn.pad", {data, call.arg(2)},
                      {{"pad_width", call.ListOf(pairs)}, {"pad_mode", call.attr("pad_mode")}});
  }
  if (call.String("pad_mode") != "constant") return call.NoCounterpart("widths of this pad_mode that are computed");
  if (rank == kUnknownDim) return call.Error("type-inference", "the rank of the operand is unknown");
  Value widths = call.Reshape(call.arg(1), {2 * int64_t{rank}});
  const auto amounts = DimsFrom(call, widths);
  if (!amounts) return nullptr;
  Value value = call.Cast(call.arg(2), DTypeOf(data));
  for (size_t axis = 0; axis < static_cast<size_t>(rank); ++axis) {
    const auto dims = DimsOf(data);
    if (!dims) return call.Error("type-inference", "the shape of the operand is unknown");
    const auto edge = [&](const PrimExpr* width) {
      DimList shape = *dims;
      shape[axis] = width;
      return op::Full(call, call.Shape(shape), value);
    };
    const Value parts[] = {edge((*amounts)[2 * axis]), data, edge((*amounts)[2 * axis + 1])};
    data = call.Concat(parts, static_cast<int64_t>(axis));
  }
  return data;
}

// The sizes of the axes times the factors, rounded.
const Expr* UpsampleByOperands(OpCall& call, std::string_view letters, std::string_view transformation) {
  RelayBuilder relay(call);
  const std::string_view layout = call.String("layout");
  DimList sizes;
  for (size_t i = 0; i < letters.size(); ++i) {
    const size_t axis = AxisIn(layout, letters[i]);
    if (axis >= layout.size()) return call.Error("bad-argument", "the layout does not fit the operand");
    constexpr DataType kFloat = DataType::Float(32);
    Value size = SizeOfAxis(call, call.arg(0), static_cast<int64_t>(axis), kFloat);
    size = relay.Unary("round", relay.Multiply(size, call.Cast(call.arg(i + 1), kFloat)));
    sizes.push_back(DimFrom(call, call.Cast(size, kInt64)));
    if (sizes.back() == nullptr) return nullptr;
  }
  return UpsampleTo(call, sizes, transformation);
}

const Expr* BuildDynUpsampling(OpCall& call) {
  const auto h = ConstantNumber(call.arg(1));
  const auto w = ConstantNumber(call.arg(2));
  if (h && w) {
    return call.Relay("nn.upsampling", {call.arg(0)},
                      {{"scale_h", *h},
                       {"scale_w", *w},
                       {"layout", call.attr("layout")},
                       {"method", call.attr("method")},
                       {"align_corners", call.attr("align_corners")}});
  }
  return UpsampleByOperands(call, "HW", call.Bool("align_corners") ? "align_corners" : "asymmetric");
}

const Expr* BuildDynUpsampling3d(OpCall& call) {
  const auto d = ConstantNumber(call.arg(1));
  const auto h = ConstantNumber(call.arg(2));
  const auto w = ConstantNumber(call.arg(3));
  if (d && h && w) {
    return call.Relay("nn.upsampling3d", {call.arg(0)},
                      {{"scale_d", *d},
                       {"scale_h", *h},
                       {"scale_w", *w},
                       {"layout", call.attr("layout")},
                       {"method", call.attr("method")},
                       {"coordinate_transformation_mode", call.attr("coordinate_transformation_mode")}});
  }
  return UpsampleByOperands(call, "DHW", call.String("coordinate_transformation_mode"));
}

constexpr OperatorRow kDyn[] = {
    {"dyn.broadcast_to", "data, shape", "shape=None, dtype=\"\"", BuildDynBroadcastTo},
    {"dyn.expand_dims", "data, axis", "num_newaxis=1", BuildDynExpandDims},
    {"dyn.full", "fill_value, shape", "shape=None, dtype=\"\"", BuildDynFull},
    {"dyn.nn.pad", "data, pad_width, pad_val", "pad_width=None, pad_mode=\"constant\"", BuildDynPad},
    {"dyn.nn.upsampling", "data, scale_h, scale_w",
     "scale_h=0f, scale_w=0f, layout=\"NCHW\", method=\"nearest_neighbor\", align_corners=False", BuildDynUpsampling},
    {"dyn.nn.upsampling3d", "data, scale_d, scale_h, scale_w",
     "scale_d=0f, scale_h=0f, scale_w=0f, layout=\"NCDHW\", method=\"nearest_neighbor\", "
     "coordinate_transformation_mode=\"half_pixel\"",
     BuildDynUpsampling3d},
    {"dyn.one_hot", "indices, on_value, off_value, depth", "depth=1, axis=-1, dtype=\"\"", BuildDynOneHot},
    {"dyn.ones", "shape", "shape=None, dtype=\"\"", BuildDynOnesOrZeros<op::Ones>},
    {"dyn.reshape", "data, newshape", "newshape=None, allowzero=False", BuildDynReshape},
    {"dyn.squeeze", "data, axes", "axis=None", BuildDynSqueeze},
    {"dyn.strided_slice", "data, begin, end, strides",
     "begin=None, end=None, strides=None, slice_mode=\"end\", axes=None", BuildDynStridedSlice},
    {"dyn.tile", "data, reps", "reps=None", BuildDynTile},
    {"dyn.topk", "data, k", "k=None, axis=-1, ret_type=\"both\", is_ascend=False, dtype=\"\"", BuildDynTopk},
    {"dyn.zeros", "shape", "shape=None, dtype=\"\"", BuildDynOnesOrZeros<op::Zeros>},
};

}  // namespace

std::span<const OperatorRow> DynOperators() { return kDyn; }

}  // namespace iropt::relay
