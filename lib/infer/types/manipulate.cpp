// Type rules of operators that rearrange the elements of a tensor.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "infer/type_util.h"
#include "iropt/infer/map_shape.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"

namespace iropt {

using namespace rules;

// ---- Broadcasting and reshaping

IROPT_TYPE_RULE(InferBroadcastTo, "`shape`, to which that of `x` can be broadcast") {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  const TensorType* x = TensorArg(call, 0, ctx);
  const ShapeType* target = x ? ShapeArg(call, 1, ctx) : nullptr;
  if (!target) return nullptr;
  if (HasRank(x) && target->ndim != kUnknownDim && target->ndim < x->ndim) {
    return ctx.Error(call, 1,
                     fmt::format("cannot broadcast a tensor of rank {} to a shape of rank {}", x->ndim, target->ndim));
  }
  const List<Dim>* dims = ShapeValues(x);
  // Dimensions that cannot be checked at compile time are trusted.
  for (uint32_t i = 1; dims && target->known && i <= dims->size(); ++i) {
    const Dim from = (*dims)[dims->size() - i];
    const Dim to = target->values[target->values.size() - i];
    if (!IsOne(from) && arith::ProveNotEqual(from, to)) {
      return ctx.Error(
          call, 1,
          fmt::format("cannot broadcast the shape {} to {}", DimsToString(*dims), DimsToString(target->values)));
    }
  }
  return WithShapeExpr(call.args[1], x->dtype, x->vdevice, ctx);
}

IROPT_TYPE_RULE(InferReshape, "`shape`, of as many elements; 0 copies a dimension and -1 is the remaining one") {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  const TensorType* x = TensorArg(call, 0, ctx);
  const ShapeType* target = x ? ShapeArg(call, 1, ctx) : nullptr;
  if (!target) return nullptr;
  const List<Dim>* dims = ShapeValues(x);
  if (dims && target->known) {
    const Dim before = Product(*dims);
    const Dim after = Product(target->values);
    if (arith::ProveNotEqual(before, after)) {
      return ctx.Error(call, 1,
                       fmt::format("cannot reshape {} with {} elements to {} with {} elements", DimsToString(*dims),
                                   DimToString(before), DimsToString(target->values), DimToString(after)));
    }
  }
  if (target->known) return TensorType::Get(target->values, x->dtype, x->vdevice);
  return WithShapeExpr(call.args[1], x->dtype, x->vdevice, ctx);
}

IROPT_TYPE_RULE(InferFlatten, "one axis with all elements") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x || x->ndim == 1) return x;
  if (!x->known && x->ndim != 0) return WithRank(x, 1);
  const Dim length[] = {Product(x->dims)};
  return TensorType::Get(length, x->dtype, x->vdevice);
}

IROPT_TYPE_RULE(InferExpandDims, "an axis of length 1 at each of `axis`, counted in the result") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const std::vector<int64_t> given = ExpandDimsAttrs(call).axis().vector();
  if (given.empty()) return x;
  if (!HasRank(x)) return WithRank(x, kUnknownDim);
  const int ndim = x->ndim + static_cast<int>(given.size());
  std::vector<int> axes;
  if (!NormalizeAxes(call, ndim, given, ctx, axes)) return nullptr;
  if (!x->known) return WithRank(x, ndim);
  DimList dims;
  uint32_t next = 0;
  for (int i = 0; i < ndim; ++i) {
    const bool added = std::find(axes.begin(), axes.end(), i) != axes.end();
    dims.push_back(added ? One() : x->dims[next++]);
  }
  return TensorType::Get(dims, x->dtype, x->vdevice);
}

IROPT_TYPE_RULE(InferSqueeze, "without the axes of `axis`, or all of length 1") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const auto given = SqueezeAttrs(call).axis();
  if (given && given->empty()) return x;
  if (!HasRank(x)) return WithRank(x, kUnknownDim);
  const List<Dim>* dims = ShapeValues(x);
  std::vector<int> axes;
  if (given) {
    if (!NormalizeAxes(call, x->ndim, given->vector(), ctx, axes)) return nullptr;
    if (!dims) return WithRank(x, x->ndim - static_cast<int>(axes.size()));
    for (const int axis : axes) {
      if (!arith::AsInt((*dims)[axis]) || IsOne((*dims)[axis])) continue;
      return ctx.Error(
          call, fmt::format("cannot squeeze axis {} of the shape {}: its length is not 1", axis, DimsToString(*dims)));
    }
  } else {
    // Without axes all dimensions of length 1 are removed; if a length is not known, neither is the rank.
    if (!dims) return WithRank(x, kUnknownDim);
    for (int i = 0; i < x->ndim; ++i) {
      if (!arith::AsInt((*dims)[i])) return WithRank(x, kUnknownDim);
      if (IsOne((*dims)[i])) axes.push_back(i);
    }
  }
  DimList kept;
  for (int i = 0; i < x->ndim; ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) kept.push_back((*dims)[i]);
  }
  if (x->known) return TensorType::Get(kept, x->dtype, x->vdevice);
  if (axes.empty()) return x;
  return WithRank(x, given ? static_cast<int>(kept.size()) : kUnknownDim);
}

IROPT_TYPE_RULE(InferPermuteDims, "the axes in the order of `axes`, or reversed") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const auto given = PermuteDimsAttrs(call).axes();
  if (!HasRank(x)) return WithRank(x, kUnknownDim);
  std::vector<int> axes;
  if (given) {
    if (static_cast<int>(given->size()) != x->ndim) {
      return ctx.Error(call, fmt::format("has {} axes for a tensor of rank {}", given->size(), x->ndim));
    }
    if (!NormalizeAxes(call, x->ndim, given->vector(), ctx, axes)) return nullptr;
  } else {
    axes.resize(static_cast<size_t>(x->ndim));
    std::iota(axes.rbegin(), axes.rend(), 0);
  }
  if (std::is_sorted(axes.begin(), axes.end())) return x;
  if (!x->known) return WithRank(x, x->ndim);
  DimList dims;
  for (const int axis : axes) dims.push_back(x->dims[axis]);
  return TensorType::Get(dims, x->dtype, x->vdevice);
}

// ---- Joining and splitting

namespace {

// The common properties of concatenated tensors.
struct ConcatInputs {
  DataType dtype = DataType::Void();
  int ndim = kUnknownDim;
  bool all_shapes = true;  // given literally
  std::vector<const List<Dim>*> shapes;
};

std::optional<ConcatInputs> ReadConcatInputs(const Call& call, std::span<const TensorType* const> tensors,
                                             bool has_axis, InferContext& ctx) {
  ConcatInputs in;
  in.ndim = has_axis ? kUnknownDim : 1;
  bool unknown_dtype = false;
  const auto fail = [&](const std::string& message) {
    ctx.Error(call, 0, message);
    return std::nullopt;
  };
  for (const TensorType* t : tensors) {
    if (t->dtype.is_void()) {
      unknown_dtype = true;
    } else if (in.dtype.is_void()) {
      in.dtype = t->dtype;
    } else if (t->dtype != in.dtype) {
      return fail(fmt::format("the tensors must have the same dtype, but have {} and {}", in.dtype.ToString(),
                              t->dtype.ToString()));
    }
    if (in.ndim == kUnknownDim) {
      in.ndim = t->ndim;
    } else if (HasRank(t) && t->ndim != in.ndim) {
      return fail(fmt::format("the tensors must have the same rank, but have {} and {}", in.ndim, t->ndim));
    }
    in.all_shapes = in.all_shapes && t->known;
    if (const List<Dim>* dims = ShapeValues(t)) in.shapes.push_back(dims);
  }
  if (unknown_dtype) in.dtype = DataType::Void();
  return in;
}

Dim ConcatLength(const std::vector<const List<Dim>*>& shapes, int axis) {
  const Dim first = (*shapes[0])[axis];
  const bool all_same =
      std::all_of(shapes.begin(), shapes.end(), [&](const List<Dim>* s) { return (*s)[axis] == first; });
  if (all_same) return kDims.Mul(first, kDims.Int(static_cast<int64_t>(shapes.size())));
  Dim sum = kDims.Int(0);
  for (const List<Dim>* shape : shapes) sum = kDims.Add(sum, (*shape)[axis]);
  return sum;
}

}  // namespace

IROPT_TYPE_RULE(InferConcat, "the lengths on `axis` added; on other axes they are the same") {
  if (!CheckArity(call, 1, 1, ctx)) return nullptr;
  std::vector<const TensorType*> tensors;
  if (!TensorsOfTuple(call, 0, ctx, tensors)) return nullptr;
  const auto given = ConcatAttrs(call).axis();
  const auto in = ReadConcatInputs(call, tensors, given.has_value(), ctx);
  if (!in) return nullptr;
  const VDeviceAttr* vdevice = JoinVDevices(tensors);
  if (in->ndim == kUnknownDim)
    return tensors.size() == 1 ? tensors[0] : TensorType::Get(kUnknownDim, in->dtype, vdevice);
  const auto axis = NormalizeAxis(call, in->ndim, given.value_or(0), ctx);
  if (!axis) return nullptr;
  if (tensors.size() == 1) return tensors[0];
  if (in->shapes.empty()) return TensorType::Get(in->ndim, in->dtype, vdevice);
  const List<Dim>& first = *in->shapes[0];
  bool known = in->all_shapes;
  for (int d = 0; d < in->ndim; ++d) {
    for (size_t i = 1; d != *axis && i < in->shapes.size(); ++i) {
      const Dim other = (*in->shapes[i])[d];
      if (arith::ProveEqual(other, first[d])) continue;
      if (arith::ProveNotEqual(other, first[d])) {
        return ctx.Error(call, 0,
                         fmt::format("the shapes {} and {} differ on axis {}, which is not the one of concatenation",
                                     DimsToString(first), DimsToString(*in->shapes[i]), d));
      }
      known = false;
    }
  }
  if (!known) return TensorType::Get(in->ndim, in->dtype, vdevice);
  DimList dims(first);
  dims[static_cast<size_t>(*axis)] = ConcatLength(in->shapes, *axis);
  return TensorType::Get(dims, in->dtype, vdevice);
}

IROPT_TYPE_RULE(InferStack, "a new axis, which counts the tensors, at `axis`") {
  if (!CheckArity(call, 1, 1, ctx)) return nullptr;
  std::vector<const TensorType*> tensors;
  if (!TensorsOfTuple(call, 0, ctx, tensors)) return nullptr;
  const auto in = ReadConcatInputs(call, tensors, true, ctx);
  if (!in) return nullptr;
  const VDeviceAttr* vdevice = JoinVDevices(tensors);
  if (in->ndim == kUnknownDim) return TensorType::Get(kUnknownDim, in->dtype, vdevice);
  const auto axis = NormalizeAxis(call, in->ndim + 1, StackAttrs(call).axis().value_or(0), ctx);
  if (!axis) return nullptr;
  bool known = in->all_shapes;
  for (size_t i = 1; i < in->shapes.size(); ++i) {
    for (int d = 0; d < in->ndim; ++d) {
      const Dim first = (*in->shapes[0])[d];
      const Dim other = (*in->shapes[i])[d];
      if (arith::ProveNotEqual(first, other)) {
        return ctx.Error(call, 0,
                         fmt::format("the tensors must have the same shape, but have {} and {}",
                                     DimsToString(*in->shapes[0]), DimsToString(*in->shapes[i])));
      }
      known = known && arith::ProveEqual(first, other);
    }
  }
  if (!known) return TensorType::Get(in->ndim + 1, in->dtype, vdevice);
  DimList dims;
  for (int i = 0; i <= in->ndim; ++i) {
    if (i == *axis) dims.push_back(kDims.Int(static_cast<int64_t>(tensors.size())));
    if (i < in->ndim) dims.push_back((*in->shapes[0])[i]);
  }
  return TensorType::Get(dims, in->dtype, vdevice);
}

IROPT_TYPE_RULE(InferMeshgrid, "a tuple of tensors with an axis for each of `tensors`, which have rank 1") {
  if (!CheckArity(call, 1, 1, ctx)) return nullptr;
  std::vector<const TensorType*> tensors;
  if (!TensorsOfTuple(call, 0, ctx, tensors)) return nullptr;
  DimList dims;
  DataType dtype = DataType::Void();
  bool known = true;
  for (const TensorType* t : tensors) {
    if (t->ndim != 1)
      return ctx.Error(call, 0, fmt::format("the tensors must have rank 1, but one is of type {}", TypeToString(t)));
    if (dtype.is_void()) dtype = t->dtype;
    if (!t->dtype.is_void() && t->dtype != dtype) {
      return ctx.Error(call, 0,
                       fmt::format("the tensors must have the same dtype, but have {} and {}", dtype.ToString(),
                                   t->dtype.ToString()));
    }
    known = known && t->known && !t->dtype.is_void();
    if (known) dims.push_back(t->dims[0]);
  }
  if (known && dims.size() > 1 && MeshgridAttrs(call).indexing() == "xy") std::swap(dims[0], dims[1]);
  const VDeviceAttr* vdevice = JoinVDevices(tensors);
  const Type* grid =
      known ? TensorType::Get(dims, dtype, vdevice) : TensorType::Get(static_cast<int>(tensors.size()), dtype, vdevice);
  return TupleType::Get(ctx.arena(), std::vector<const Type*>(tensors.size(), grid));
}

namespace {

const TensorType* WithLength(const TensorType* x, int axis, Dim length) {
  DimList dims(x->dims);
  dims[static_cast<size_t>(axis)] = arith::Simplify(length);
  return TensorType::Get(dims, x->dtype, x->vdevice);
}

// The pieces between the indices, which are clamped to the length of the axis.
const Type* SplitAtIndices(const TensorType* x, int axis, const std::vector<int64_t>& indices, InferContext& ctx) {
  std::vector<const Type*> pieces;
  if (!x->known) {
    pieces.assign(indices.size() + 1, WithRank(x, x->ndim));
    return TupleType::Get(ctx.arena(), pieces);
  }
  const Dim length = x->dims[axis];
  const Dim zero = kDims.Int(0);
  const auto clamp = [&](Dim at) { return kDims.Min(kDims.Max(at, zero), length); };
  Dim left = zero;
  for (size_t i = 0; i <= indices.size(); ++i) {
    const Dim right = i < indices.size() ? kDims.Int(indices[i]) : length;
    pieces.push_back(WithLength(x, axis, kDims.Max(kDims.Sub(clamp(right), clamp(left)), zero)));
    left = right;
  }
  return TupleType::Get(pieces);
}

const Type* SplitInSections(const Call& call, const TensorType* x, int axis, int64_t sections, InferContext& ctx) {
  if (!x->known) {
    const std::vector<const Type*> pieces(static_cast<size_t>(sections), WithRank(x, x->ndim));
    return TupleType::Get(ctx.arena(), pieces);
  }
  const Dim length = x->dims[axis];
  const Dim piece = arith::Simplify(kDims.CeilDiv(length, kDims.Int(sections)));
  const int64_t* known = arith::AsInt(length);
  if (known && *arith::AsInt(piece) * (sections - 1) > *known)
    return ctx.Error(call, fmt::format("{} elements do not split into {} pieces", *known, sections));
  std::vector<const Type*> pieces(static_cast<size_t>(sections), WithLength(x, axis, piece));
  pieces.back() = WithLength(x, axis, kDims.Sub(length, kDims.Mul(piece, kDims.Int(sections - 1))));
  return TupleType::Get(pieces);
}

}  // namespace

IROPT_TYPE_RULE(InferSplit,
                "a tuple of pieces along `axis`: as many as asked for, the last one smaller, or between the indices") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const SplitAttrs attrs(call);
  int axis = -1;
  if (HasRank(x)) {
    const auto normalized = NormalizeAxis(call, x->ndim, attrs.axis(), ctx);
    if (!normalized) return nullptr;
    axis = *normalized;
  }
  const Type* whole[] = {x};
  const auto pieces = attrs.indices_or_sections();
  if (pieces.empty() && !pieces.is_list) return ctx.Error(call, "needs a number of sections or a list of indices");
  if (!pieces.is_list) {
    // A type with one field for each section must fit in memory.
    constexpr int64_t kMaxSections = 1 << 24;
    const int64_t sections = pieces[0];
    if (sections <= 0 || sections > kMaxSections)
      return ctx.Error(call, fmt::format("cannot split into {} sections", sections));
    return sections == 1 ? TupleType::Get(ctx.arena(), whole) : SplitInSections(call, x, axis, sections, ctx);
  }
  return pieces.empty() ? TupleType::Get(ctx.arena(), whole) : SplitAtIndices(x, axis, pieces.vector(), ctx);
}

// ---- Layout transformation

IROPT_TYPE_RULE(InferLayoutTransform,
                "the extents of the indices that `index_map` makes; lengths that do not divide evenly are padded") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const LayoutTransformAttrs attrs(call);
  const IndexMapAttr* map = attrs.index_map();
  if (!map) return ctx.Error(call, "needs an index map");
  const PrimExpr* pad = attrs.pad_value();
  if (pad && !x->dtype.is_void() && pad->dtype != x->dtype) {
    return ctx.Error(call, fmt::format("pads a tensor of dtype {} with a value of dtype {}", x->dtype.ToString(),
                                       pad->dtype.ToString()));
  }
  const auto out_rank = static_cast<int>(map->results.size());
  if (!HasRank(x)) return WithRank(x, out_rank);
  if (static_cast<int>(map->params.size()) != x->ndim) {
    return ctx.Error(
        call, fmt::format("has an index map of {} indices for a tensor of rank {}", map->params.size(), x->ndim));
  }
  const List<Dim>* dims = ShapeValues(x);
  if (!dims) return WithRank(x, out_rank);
  const auto extents = MapShape(*map, *dims);
  if (!extents) return WithRank(x, out_rank);
  return TensorType::Get(*extents, x->dtype, x->vdevice);
}

// ---- Sums over broadcast axes

namespace {

// Each dimension of the target, from the end, must be that of the data or 1.
bool CheckCollapse(const Call& call, const List<Dim>& data, std::span<const Dim> target, InferContext& ctx) {
  size_t next = target.size();
  for (size_t i = data.size(); i-- > 0 && next > 0;) {
    const Dim to = target[next - 1];
    if (!IsOne(to) && !arith::ProveEqual(data[i], to)) {
      ctx.Error(call, fmt::format("cannot collapse the shape {} to {}: {} does not become {}", DimsToString(data),
                                  DimsToString(target), DimToString(data[i]), DimToString(to)));
      return false;
    }
    --next;
  }
  return true;
}

}  // namespace

IROPT_TYPE_RULE(InferCollapseSumLike, "the shape of `collapse_target`, the dtype of `data`") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const List<Dim>* data = ShapeValues(x[0]);
  const List<Dim>* target = ShapeValues(x[1]);
  if (data && target && !CheckCollapse(call, *data, *target, ctx)) return nullptr;
  return WithShapeOf(x[1], x[0]->dtype, x[1]->vdevice, ctx);
}

IROPT_TYPE_RULE(InferCollapseSumTo, "`shape`, the dtype of `data`") {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  const TensorType* x = TensorArg(call, 0, ctx);
  const ShapeType* target = x ? ShapeArg(call, 1, ctx) : nullptr;
  if (!target) return nullptr;
  const List<Dim>* data = ShapeValues(x);
  if (data && target->known && !CheckCollapse(call, *data, target->values, ctx)) return nullptr;
  return WithShapeExpr(call.args[1], x->dtype, x->vdevice, ctx);
}

// ---- Repetition and reversal

IROPT_TYPE_RULE(InferRepeat, "the length of `axis`, or the number of elements, times `repeats`") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const RepeatAttrs attrs(call);
  const Dim repeats = kDims.Int(attrs.repeats());
  const auto given = attrs.axis();
  if (!given) {
    if (!x->known) return WithRank(x, 1);
    const Dim length[] = {arith::Simplify(kDims.Mul(Product(x->dims), repeats))};
    return TensorType::Get(length, x->dtype, x->vdevice);
  }
  if (!HasRank(x)) return IsOne(repeats) ? x : WithRank(x, kUnknownDim);
  const auto axis = NormalizeAxis(call, x->ndim, *given, ctx);
  if (!axis) return nullptr;
  if (!x->known) return IsOne(repeats) ? x : WithRank(x, x->ndim);
  return WithLength(x, *axis, kDims.Mul(x->dims[*axis], repeats));
}

IROPT_TYPE_RULE(InferTile, "each length, from the last, times its repeats") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const std::vector<int64_t> repeats = TileAttrs(call).repeats().vector();
  const auto count = static_cast<int>(repeats.size());
  if (!x->known) {
    if (!HasRank(x) || count > x->ndim) return WithRank(x, HasRank(x) ? count : kUnknownDim);
    const bool unchanged = std::all_of(repeats.begin(), repeats.end(), [](int64_t r) { return r == 1; });
    return unchanged ? x : WithRank(x, x->ndim);
  }
  const int ndim = std::max(count, x->ndim);
  DimList dims;
  for (int i = 0; i < ndim; ++i) {
    const int from_repeats = i - (ndim - count);
    const int from_data = i - (ndim - x->ndim);
    if (from_repeats < 0)
      dims.push_back(x->dims[from_data]);
    else if (from_data < 0)
      dims.push_back(kDims.Int(repeats[static_cast<size_t>(from_repeats)]));
    else
      dims.push_back(
          arith::Simplify(kDims.Mul(x->dims[from_data], kDims.Int(repeats[static_cast<size_t>(from_repeats)]))));
  }
  return TensorType::Get(dims, x->dtype, x->vdevice);
}

IROPT_TYPE_RULE(InferFlip, "that of `data`") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x || !HasRank(x)) return x;
  return NormalizeAxis(call, x->ndim, FlipAttrs(call).axis(), ctx) ? x : nullptr;
}

}  // namespace iropt
