// Type rules of operators whose operands are indices, and of those that write a part of a tensor.
#include "iropt/op/ops/gather.h"

#include <fmt/format.h>

#include <algorithm>

#include "infer/type_util.h"
#include "iropt/op/ops/index.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"

namespace iropt {

using namespace rules;

namespace {

bool CheckRank(const Call& call, size_t i, const TensorType* t, int ndim, InferContext& ctx) {
  if (!HasRank(t) || t->ndim == ndim) return true;
  ctx.Error(call, i, fmt::format("{} must have rank {}, but has {}", OperandName(call, i), ndim, t->ndim));
  return false;
}

// The shape to which index tensors broadcast; kNo if it is not known.
Known BroadcastIndices(const Call& call, std::span<const TensorType* const> indices, InferContext& ctx, DimList& out) {
  for (const TensorType* index : indices) {
    if (!index->known) return Known::kNo;
    DimList joined;
    const Known known = Broadcast(call, out, index->dims, ctx, joined);
    if (known != Known::kYes) return known;
    out = joined;
  }
  return Known::kYes;
}

}  // namespace

IROPT_TYPE_RULE(InferIndexTensor, "the shape to which `indices` broadcast in place of as many axes of `data`") {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  const TensorType* data = TensorArg(call, 0, ctx);
  std::vector<const TensorType*> indices;
  if (!data || !TensorsOfTuple(call, 1, ctx, indices)) return nullptr;
  for (const TensorType* index : indices) {
    if (!CheckIntegerDType(call, 1, index->dtype, ctx)) return nullptr;
  }
  const auto count = static_cast<int>(indices.size());
  if (HasRank(data) && count > data->ndim) {
    return ctx.Error(call, 1, fmt::format("{} index tensors for data of rank {}", count, data->ndim));
  }
  DimList dims;
  const Known known = BroadcastIndices(call, indices, ctx, dims);
  if (known == Known::kError) return nullptr;
  if (known == Known::kNo || !HasRank(data)) return WithRank(data, kUnknownDim);
  if (!data->known) return WithRank(data, static_cast<int>(dims.size()) + data->ndim - count);
  for (int i = count; i < data->ndim; ++i) dims.push_back(data->dims[i]);
  return TensorType::Get(dims, data->dtype, data->vdevice);
}

namespace {

// The index tensors of index_put: a tuple of them, or a single one. False after an error.
bool IndexTensors(const Call& call, InferContext& ctx, std::vector<const TensorType*>& out) {
  if (const auto* tensor = As<TensorType>(call.args[1]->type)) {
    out.push_back(tensor);
    return true;
  }
  return TensorsOfTuple(call, 1, ctx, out);
}

}  // namespace

IROPT_TYPE_RULE(InferIndexPut, "that of `data`; `indices` are as many tensors as it has axes") {
  if (!CheckArity(call, 3, 3, ctx)) return nullptr;
  const TensorType* data = TensorArg(call, 0, ctx);
  const TensorType* values = data ? TensorArg(call, 2, ctx) : nullptr;
  std::vector<const TensorType*> indices;
  if (!values || !IndexTensors(call, ctx, indices)) return nullptr;
  if (!HasRank(data)) return WithRank(data, kUnknownDim);
  for (const TensorType* index : indices) {
    if (index->ndim == 0) return ctx.Error(call, 1, "an index tensor must not be a scalar");
    if (!CheckIntegerDType(call, 1, index->dtype, ctx)) return nullptr;
  }
  if (indices.size() != static_cast<size_t>(data->ndim)) {
    return ctx.Error(call, 1, fmt::format("{} index tensors for data of rank {}", indices.size(), data->ndim));
  }
  if (!CommonDType(call, 0, data->dtype, 2, values->dtype, ctx)) return nullptr;
  return data->known ? data : WithRank(data, data->ndim);
}

IROPT_TYPE_RULE(InferGatherElements, "the shape of `indices`, which has the rank of `data`") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const auto [data, indices] = x;
  if (!CheckIntegerDType(call, 1, indices->dtype, ctx)) return nullptr;
  if (!HasRank(data) || !HasRank(indices)) return WithRank(data, kUnknownDim);
  if (!NormalizeAxis(call, data->ndim, GatherElementsAttrs(call).axis(), ctx)) return nullptr;
  if (!CheckRank(call, 1, indices, data->ndim, ctx)) return nullptr;
  return WithShapeOf(indices, data->dtype, data->vdevice, ctx);
}

IROPT_TYPE_RULE(InferGatherNd, "the shape of `indices` with what its last axis picks; `indices` are int64") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const auto [data, indices] = x;
  const int64_t batch = GatherNDAttrs(call).batch_dims();
  if (!indices->dtype.is_void() && indices->dtype != DataType::Int(64)) {
    return ctx.Error(
        call, 1, fmt::format("{} must have dtype int64, but has {}", OperandName(call, 1), indices->dtype.ToString()));
  }
  if (batch < 0) return ctx.Error(call, fmt::format("has batch_dims {}, which is negative", batch));
  if (!HasRank(data) || !HasRank(indices)) return WithRank(data, kUnknownDim);
  if (batch > data->ndim || batch > indices->ndim - 1) {
    return ctx.Error(call, fmt::format("has batch_dims {}, but data of rank {} and indices of rank {}", batch,
                                       data->ndim, indices->ndim));
  }
  const int64_t* depth = indices->known ? arith::AsInt(indices->dims.back()) : nullptr;
  if (!depth) return WithRank(data, kUnknownDim);
  if (*depth < 0 || *depth > data->ndim - batch) {
    return ctx.Error(
        call, 1,
        fmt::format("{} addresses {} axes of a tensor with {}", OperandName(call, 1), *depth, data->ndim - batch));
  }
  const auto first = static_cast<int>(batch + *depth);
  if (!data->known) return WithRank(data, indices->ndim - 1 + data->ndim - first);
  DimList dims;
  for (int i = 0; i + 1 < indices->ndim; ++i) dims.push_back(indices->dims[i]);
  for (int i = first; i < data->ndim; ++i) dims.push_back(data->dims[i]);
  return TensorType::Get(dims, data->dtype, data->vdevice);
}

IROPT_TYPE_RULE(InferReverseSequence, "that of `data`; `seq_lengths` has the length of `batch_axis`") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const auto [data, lengths] = x;
  if (!CheckRank(call, 1, lengths, 1, ctx)) return nullptr;
  const DataType dtype = lengths->dtype;
  if (!dtype.is_void() && dtype != DataType::Int(32) && dtype != DataType::Int(64)) {
    return ctx.Error(
        call, 1, fmt::format("{} must have dtype int32 or int64, but has {}", OperandName(call, 1), dtype.ToString()));
  }
  if (!HasRank(data)) return data;
  const ReverseSequenceAttrs attrs(call);
  const auto batch = NormalizeAxis(call, data->ndim, attrs.batch_axis(), ctx);
  if (!batch || !NormalizeAxis(call, data->ndim, attrs.seq_axis(), ctx)) return nullptr;
  const List<Dim>* dims = ShapeValues(data);
  const List<Dim>* counts = ShapeValues(lengths);
  if (dims && counts && arith::ProveNotEqual((*dims)[*batch], (*counts)[0])) {
    return ctx.Error(call, 1,
                     fmt::format("{} has {} elements, but axis {} of the data has length {}", OperandName(call, 1),
                                 DimToString((*counts)[0]), *batch, DimToString((*dims)[*batch])));
  }
  return data;
}

namespace {

// The value of a scalar operand of integer dtype; null after an error.
Dim IntegerArg(const Call& call, size_t i, InferContext& ctx) {
  const Dim value = NumberArg(call, i, ctx);
  if (!value || value->dtype.is_integer()) return value;
  ctx.Error(call, i,
            fmt::format("{} must be an integer, but has dtype {}", OperandName(call, i), value->dtype.ToString()));
  return nullptr;
}

struct ScatteredSlice {
  Dim start, end, step;
};

std::optional<ScatteredSlice> ReadScatteredSlice(const Call& call, InferContext& ctx) {
  const Dim start = IntegerArg(call, 2, ctx);
  const Dim end = start ? IntegerArg(call, 3, ctx) : nullptr;
  const Dim step = end ? IntegerArg(call, 4, ctx) : nullptr;
  if (!step) return std::nullopt;
  arith::Analyzer analyzer;
  if (analyzer.CanProve(kDims.Binary(NodeKind::kLT, step, kDims.Int(1, step->dtype)))) {
    ctx.Error(call, 4, fmt::format("{} must be positive, but is {}", OperandName(call, 4), DimToString(step)));
    return std::nullopt;
  }
  const auto wide = [](Dim d) { return kDims.Cast(DataType::Int(64), d); };
  const ScatteredSlice slice{wide(start), wide(end), wide(step)};
  if (!analyzer.CanProve(kDims.Binary(NodeKind::kLT, slice.end, slice.start))) return slice;
  ctx.Error(call, 3, fmt::format("the end {} is before the start {}", DimToString(end), DimToString(start)));
  return std::nullopt;
}

bool CheckScattered(const Call& call, const List<Dim>& data, const List<Dim>& src, int axis,
                    const ScatteredSlice& slice, InferContext& ctx) {
  const Dim length =
      kDims.FloorDiv(kDims.Sub(kDims.Add(kDims.Sub(slice.end, slice.start), slice.step), One()), slice.step);
  for (int i = 0; i < static_cast<int>(data.size()); ++i) {
    const Dim expected = i == axis ? arith::Simplify(length) : data[i];
    if (!arith::ProveNotEqual(src[i], expected)) continue;
    ctx.Error(call, 1,
              fmt::format("{} has length {} on axis {}, but {} is needed", OperandName(call, 1), DimToString(src[i]), i,
                          DimToString(expected)));
    return false;
  }
  return true;
}

}  // namespace

IROPT_TYPE_RULE(InferSliceScatter, "that of `input_tensor`; `src` has the shape of the slice") {
  if (!CheckArity(call, 5, 5, ctx)) return nullptr;
  const TensorType* data = TensorArg(call, 0, ctx);
  const TensorType* src = data ? TensorArg(call, 1, ctx) : nullptr;
  if (!src) return nullptr;
  if (!HasRank(data)) return WithRank(data, kUnknownDim);
  const auto axis = NormalizeAxis(call, data->ndim, SliceScatterAttrs(call).axis(), ctx);
  if (!axis || !CheckRank(call, 1, src, data->ndim, ctx)) return nullptr;
  if (!CommonDType(call, 0, data->dtype, 1, src->dtype, ctx)) return nullptr;
  const auto slice = ReadScatteredSlice(call, ctx);
  if (!slice) return nullptr;
  if (data->known && src->known && !CheckScattered(call, data->dims, src->dims, *axis, *slice, ctx)) return nullptr;
  return data;
}

IROPT_TYPE_RULE(InferOneHot, "the shape of `indices` with an axis of length `depth`, the dtype of the values") {
  if (!CheckArity(call, 3, 3, ctx)) return nullptr;
  const TensorType* indices = TensorArg(call, 0, ctx);
  if (!indices || !CheckIntegerDType(call, 0, indices->dtype, ctx)) return nullptr;
  DataType dtypes[2];
  for (size_t i = 0; i < 2; ++i) {
    const auto* value = As<PrimType>(call.args[i + 1]->type);
    if (!value) return ctx.Error(call, i + 1, fmt::format("{} must be a number", OperandName(call, i + 1)));
    dtypes[i] = value->dtype;
  }
  if (!CommonDType(call, 1, dtypes[0], 2, dtypes[1], ctx)) return nullptr;
  const OneHotAttrs attrs(call);
  if (attrs.depth() <= 0) return ctx.Error(call, fmt::format("has depth {}, which must be positive", attrs.depth()));
  if (!HasRank(indices)) return TensorType::Get(kUnknownDim, dtypes[0], indices->vdevice);
  const auto axis = NormalizeAxis(call, indices->ndim + 1, attrs.axis(), ctx);
  if (!axis) return nullptr;
  if (!indices->known) return TensorType::Get(indices->ndim + 1, dtypes[0], indices->vdevice);
  DimList dims;
  for (int i = 0; i <= indices->ndim; ++i) {
    if (i == *axis) dims.push_back(kDims.Int(attrs.depth()));
    if (i < indices->ndim) dims.push_back(indices->dims[i]);
  }
  return TensorType::Get(dims, dtypes[0], indices->vdevice);
}

IROPT_TYPE_RULE(InferBucketize, "the shape of `input_tensor`, int32 if `out_int32`, otherwise int64") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x) || !CheckRank(call, 1, x[1], 1, ctx)) return nullptr;
  const DataType dtype = DataType::Int(BucketizeAttrs(call).out_int32() ? 32 : 64);
  if (x[0]->known) return TensorType::Get(x[0]->dims, dtype, x[0]->vdevice);
  return TensorType::Get(x[0]->ndim, dtype, x[0]->vdevice);
}

}  // namespace iropt
