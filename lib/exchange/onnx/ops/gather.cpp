// Operators that pick elements by indices, or write them to indices.

#include "iropt/op/ops/gather.h"

#include <algorithm>

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/ops/common.h"
#include "exchange/onnx/ops/scalar_elements.h"
#include "iropt/ir/context.h"
#include "iropt/ir/structural.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/index.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/slice.h"

namespace iropt::onnx {

namespace {

template <class A, class F>
bool AllOf(const NDArray& array, A&& accepts, F&& fallback) {
  if (array.dtype() == DataType::Int(64)) return std::ranges::all_of(array.As<int64_t>(), accepts);
  if (array.dtype() == DataType::Int(32)) return std::ranges::all_of(array.As<int32_t>(), accepts);
  return fallback();
}

// Returns whether no index is negative, which the operators of Relax do not take.
bool CountFromFront(const Expr* indices) {
  const auto* constant = As<Constant>(indices);
  return constant != nullptr && AllOf(
                                    *constant->data, [](auto index) { return index >= 0; }, [] { return false; });
}

// Indices from 0 up for a dimension: those from the end are shifted. Null if they cannot be.
const Expr* FromFront(OpImport& op, const Expr* indices, const PrimExpr* dim) {
  if (CountFromFront(indices)) return indices;
  const auto* size = dim ? As<tir::IntImm>(dim) : nullptr;
  if (size == nullptr) return nullptr;
  const Expr* shifted = Add(op, indices, ScalarLike(op, indices, static_cast<double>(size->value)));
  return Where(op, op.Call(op::kLess, {indices, ScalarLike(op, indices, 0)}), shifted, indices);
}

// Valid indices are from -n to n - 1, for which wrapping around is counting from the end.
Value ImportGather(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 1) return {};
  const int64_t axis = op.Axis(op.Int("axis"), rank);
  const std::string_view mode = CountFromFront(op.In(1)) ? "fast" : "wrap";
  return op.Call(op::kTake, {op.In(0), op.In(1)}, op.Attrs<TakeAttrs>(op::kTake, {.axis = axis, .mode = mode}));
}

Value ImportGatherElements(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 1) return {};
  const int64_t axis = op.Axis(op.Int("axis"), rank);
  const Expr* indices = FromFront(op, op.In(1), DimOf(op.TypeOf(0), static_cast<size_t>(axis)));
  if (indices == nullptr) return {};
  return op.Call(op::kGatherElements, {op.In(0), indices},
                 op.Attrs<GatherElementsAttrs>(op::kGatherElements, {.axis = axis}));
}

// Indices of several dimensions, the last axis of a tensor, from 0 up.
const Expr* VectorsFromFront(OpImport& op, const Expr* indices, const TensorType* data, int64_t first) {
  if (CountFromFront(indices)) return indices;
  const TensorType* type = OpImport::TensorOf(indices);
  const auto* length = type && type->known && type->ndim > 0
                           ? As<tir::IntImm>(type->dims[static_cast<uint32_t>(type->ndim - 1)])
                           : nullptr;
  if (length == nullptr || data == nullptr || !data->known) return nullptr;
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < length->value; ++i) {
    const PrimExpr* dim = DimOf(data, static_cast<size_t>(first + i));
    const auto* size = dim ? As<tir::IntImm>(dim) : nullptr;
    if (size == nullptr) return nullptr;
    sizes.push_back(size->value);
  }
  const Expr* shift = op.Cast(op.IntTensor(sizes, {static_cast<int64_t>(sizes.size())}), type->dtype);
  return Where(op, op.Call(op::kLess, {indices, ScalarLike(op, indices, 0)}), Add(op, indices, shift), indices);
}

Value ImportGatherNd(OpImport& op) {
  const int64_t batch = op.Int("batch_dims");
  const Expr* indices = VectorsFromFront(op, op.In(1), op.TypeOf(0), batch);
  if (indices == nullptr) return {};
  return op.Call(op::kGatherNd, {op.In(0), indices}, op.Attrs<GatherNDAttrs>(op::kGatherNd, {.batch_dims = batch}));
}

// ---- Writing

// The words of the attribute are those of Relax, but for writing: "none" is "update".
std::string_view ReductionOf(OpImport& op) {
  const std::string_view reduction = op.String("reduction", "none");
  return reduction == "none" ? "update" : reduction;
}

Value ImportScatterElements(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 1) return {};
  const int64_t axis = op.Axis(op.Int("axis"), rank);
  const Expr* indices = FromFront(op, op.In(1), DimOf(op.TypeOf(0), static_cast<size_t>(axis)));
  if (indices == nullptr) return {};
  return op.Call(op::kScatterElements, {op.In(0), indices, op.In(2)},
                 op.Attrs<ScatterElementsAttrs>(op::kScatterElements, {.axis = axis, .reduction = ReductionOf(op)}));
}

// Returns whether the shape of the updates is known to be that of the indices without their last dimension and of the
// data after it. It may be so at run time only.
bool FitsScatter(const TensorType* data, const TensorType* indices, const TensorType* updates) {
  if (data == nullptr || indices == nullptr || updates == nullptr) return true;
  if (!data->known || !indices->known || !updates->known || indices->dims.empty()) return true;
  const auto* depth = As<tir::IntImm>(indices->dims.back());
  const auto rank = static_cast<int64_t>(data->dims.size());
  if (depth == nullptr || depth->value < 0 || depth->value > rank) return true;
  std::vector<const PrimExpr*> wanted(indices->dims.begin(), indices->dims.end() - 1);
  wanted.insert(wanted.end(), data->dims.begin() + depth->value, data->dims.end());
  return std::ranges::equal(wanted, updates->dims, [](const PrimExpr* a, const PrimExpr* b) {
    const bool are_numbers = Is<tir::IntImm>(a) && Is<tir::IntImm>(b);
    return are_numbers || DeepEqual(a, b);
  });
}

Value ImportScatterNd(OpImport& op) {
  const Expr* indices = VectorsFromFront(op, op.In(1), op.TypeOf(0), 0);
  if (indices == nullptr || !FitsScatter(op.TypeOf(0), op.TypeOf(1), op.TypeOf(2))) return {};
  return op.Call(op::kScatterNd, {op.In(0), indices, op.In(2)},
                 op.Attrs<ScatterNDAttrs>(op::kScatterNd, {.reduction = ReductionOf(op)}));
}

// ---- Masks

// An index out of range gives a row of the other value; one that is negative counts from the end.
Value ImportOneHot(OpImport& op) {
  const std::optional<double> depth = op.NumberOf(1);
  const NDArray* values = op.ConstantOf(2);
  if (!depth || *depth < 1 || values == nullptr || values->num_elements() != 2 || op.Dtype(0).is_void()) return {};
  // Runtimes have the operator for some dtypes of the depth, which Relax does not keep.
  if (op.importer().context().count_nodes && op.ConstantOf(1)->dtype() != DataType::Int(64)) return {};
  const auto size = static_cast<double>(static_cast<int64_t>(*depth));
  const Expr* indices = op.Cast(op.In(0), DataType::Int(64));
  if (!CountFromFront(indices)) {
    const Expr* shifted = Add(op, indices, ScalarLike(op, indices, size));
    indices = Where(op, op.Call(op::kLess, {indices, ScalarLike(op, indices, 0)}), shifted, indices);
  }
  const auto number = [&](size_t i) {
    const auto array =
        NDArray::View(values->dtype(), {}, values->data() + i * static_cast<size_t>(values->dtype().bytes()),
                      values->shared_from_this());
    return op.ScalarPrim(*array);
  };
  return op.Call(
      op::kOneHot, {indices, number(1), number(0)},
      op.Attrs<OneHotAttrs>(op::kOneHot, {.depth = static_cast<int64_t>(*depth), .axis = op.Int("axis", -1)}));
}

Value ImportTrilu(OpImport& op) {
  const std::optional<double> k = op.Has(1) ? op.NumberOf(1) : 0;
  if (!k) return {};
  const Expr* diagonal = op.Prim(static_cast<int64_t>(*k));
  return op.Call(op.Int("upper", 1) != 0 ? op::kTriu : op::kTril, {op.In(0), diagonal});
}

Value ImportEyeLike(OpImport& op) {
  const TensorType* type = op.TypeOf(0);
  if (type == nullptr || type->ndim != 2) return {};
  std::optional<DataType> dtype = type->dtype;
  if (op.FindAttr("dtype")) dtype = DataTypeOf(static_cast<ElementType>(op.Int("dtype")));
  if (!dtype) return {};
  return op.Call(op::kEyeLike, {op.In(0), op.Prim(op.Int("k"))}, op.Attrs<InitAttrs>(op::kEyeLike, {.dtype = *dtype}));
}

// ONNX has a row for each dimension, and so has Relax.
Value ImportNonZero(OpImport& op) {
  if (op.Rank(0) < 1) return {};
  return op.Call(op::kNonzero, {op.In(0)});
}

// ---- Order

Value ImportReverseSequence(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 2) return {};
  return op.Call(
      op::kReverseSequence, {op.In(0), op.In(1)},
      op.Attrs<ReverseSequenceAttrs>(op::kReverseSequence, {.seq_axis = op.Axis(op.Int("time_axis"), rank),
                                                            .batch_axis = op.Axis(op.Int("batch_axis", 1), rank)}));
}

// Splits dimensions of an image into blocks, orders them, and joins them again.
Value Rearrange(OpImport& op, std::span<const int64_t> split, std::span<const int64_t> axes,
                std::span<const int64_t> joined) {
  return op.Reshape(op.Transpose(op.Reshape(op.In(0), split), axes), joined);
}

Value ImportDepthToSpace(OpImport& op) {
  const auto dims = op.Dims(0);
  const int64_t size = op.Int("blocksize");
  if (!dims || dims->size() != 4) return {};
  const int64_t area = op.Product({size, size});
  if (op.failed()) return {};
  if (size < 1 || (*dims)[1] % area != 0)
    return op.Error(fmt::format("{} channels cannot be split into blocks of size {}", (*dims)[1], size));
  const int64_t depth = (*dims)[1] / area;
  const int64_t height = (*dims)[2];
  const int64_t width = (*dims)[3];
  const int64_t joined[] = {(*dims)[0], depth, op.Product({height, size}), op.Product({width, size})};
  if (op.failed()) return {};
  if (op.String("mode", "DCR") == "CRD") {
    const int64_t split[] = {(*dims)[0], depth, size, size, height, width};
    const int64_t axes[] = {0, 1, 4, 2, 5, 3};
    return Rearrange(op, split, axes, joined);
  }
  const int64_t split[] = {(*dims)[0], size, size, depth, height, width};
  const int64_t axes[] = {0, 3, 4, 1, 5, 2};
  return Rearrange(op, split, axes, joined);
}

Value ImportSpaceToDepth(OpImport& op) {
  const auto dims = op.Dims(0);
  const int64_t size = op.Int("blocksize");
  if (!dims || dims->size() != 4) return {};
  if (size < 1 || (*dims)[2] % size != 0 || (*dims)[3] % size != 0)
    return op.Error(
        fmt::format("an image of {} x {} cannot be split into blocks of size {}", (*dims)[2], (*dims)[3], size));
  const int64_t split[] = {(*dims)[0], (*dims)[1], (*dims)[2] / size, size, (*dims)[3] / size, size};
  const int64_t axes[] = {0, 3, 5, 1, 2, 4};
  const int64_t joined[] = {(*dims)[0], op.Product({(*dims)[1], size, size}), (*dims)[2] / size, (*dims)[3] / size};
  if (op.failed()) return {};
  return Rearrange(op, split, axes, joined);
}

constexpr OpRow kGatherRows[] = {
    {"DepthToSpace", 1, 1, 1, ImportDepthToSpace, "R.reshape, R.permute_dims"},
    {"EyeLike", 9, 1, 1, ImportEyeLike, "R.eye_like"},
    {"Gather", 1, 2, 2, ImportGather, "R.take", EvaluateGather},
    {"GatherElements", 11, 2, 2, ImportGatherElements, "R.gather_elements"},
    {"GatherND", 11, 2, 2, ImportGatherNd, "R.gather_nd"},
    {"NonZero", 9, 1, 1, ImportNonZero, "R.nonzero"},
    {"OneHot", 9, 3, 3, ImportOneHot, "R.one_hot"},
    {"ReverseSequence", 10, 2, 2, ImportReverseSequence, "R.reverse_sequence"},
    {"Scatter", 9, 3, 3, ImportScatterElements, "R.scatter_elements"},
    {"ScatterElements", 11, 3, 3, ImportScatterElements, "R.scatter_elements"},
    {"ScatterND", 11, 3, 3, ImportScatterNd, "R.scatter_nd"},
    {"SpaceToDepth", 1, 1, 1, ImportSpaceToDepth, "R.reshape, R.permute_dims"},
    {"Trilu", 14, 1, 2, ImportTrilu, "R.tril, R.triu"},
};

}  // namespace

std::span<const OpRow> GatherRows() { return kGatherRows; }

}  // namespace iropt::onnx
