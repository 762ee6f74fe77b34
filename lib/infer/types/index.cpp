// Type rules of operators that pick elements: by position, by order, by value; and of those that scatter them.
#include "iropt/op/ops/index.h"

#include <fmt/format.h>

#include <algorithm>

#include "infer/type_util.h"
#include "iropt/infer/slice.h"
#include "iropt/op/ops/gather.h"
#include "iropt/op/ops/scan.h"
#include "iropt/op/ops/slice.h"
#include "iropt/op/ops/sorting.h"

namespace iropt {

using namespace rules;

IROPT_TYPE_RULE(InferTake, "the shape of `indices` in place of `axis`") {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  const TensorType* x = TensorArg(call, 0, ctx);
  if (!x) return nullptr;
  // A scalar index is a tensor of rank 0.
  const auto* scalar = As<PrimType>(call.args[1]->type);
  const TensorType* indices = scalar ? TensorType::Get(std::span<const Dim>(), scalar->dtype) : TensorArg(call, 1, ctx);
  if (!indices || !CheckIntegerDType(call, 1, indices->dtype, ctx)) return nullptr;
  const auto given = TakeAttrs(call).axis();
  if (!CheckChoice(call, "mode", TakeAttrs(call).mode(), "fast wrap clip nan", ctx)) return nullptr;
  if (!given && x->ndim != 1) {
    return ctx.Error(call, 0,
                     fmt::format("{} must have rank 1 if no axis is given, but is of type {}", OperandName(call, 0),
                                 TypeToString(x)));
  }
  if (!HasRank(x) || !HasRank(indices)) return WithRank(x, kUnknownDim);
  const auto axis = NormalizeAxis(call, x->ndim, given.value_or(0), ctx);
  if (!axis) return nullptr;
  if (!x->known || !indices->known) return WithRank(x, indices->ndim + x->ndim - 1);
  DimList dims;
  for (int i = 0; i < x->ndim; ++i) {
    if (i == *axis)
      dims.Append(indices->dims);
    else
      dims.push_back(x->dims[i]);
  }
  return TensorType::Get(dims, x->dtype, x->vdevice);
}

// ---- Slices

namespace {

// The values of a tuple of integers; kNo if some are not known, kError after an error.
Known IntTuple(const Call& call, size_t operand, InferContext& ctx, std::vector<Dim>& out) {
  const Type* type = call.args[operand]->type;
  if (type->kind == NodeKind::kObjectType) return Known::kNo;
  const auto* tuple = As<TupleType>(type);
  Known known = Known::kYes;
  bool fits = tuple != nullptr;
  for (uint32_t i = 0; fits && i < tuple->fields.size(); ++i) {
    const Type* field = tuple->fields[i];
    const auto* prim = As<PrimType>(field);
    fits = (prim && prim->dtype == DataType::Int(64)) || field->kind == NodeKind::kObjectType;
    if (prim && prim->value)
      out.push_back(prim->value);
    else
      known = Known::kNo;
  }
  if (fits) return known;
  ctx.Error(call, operand,
            fmt::format("{} must be a tuple of 64-bit integers, but is of type {}", OperandName(call, operand),
                        TypeToString(type)));
  return Known::kError;
}

struct SliceBounds {
  std::vector<Dim> axes, begin, end, strides;
};

// kNo if the bounds are not known.
Known ReadSliceBounds(const Call& call, InferContext& ctx, SliceBounds& out) {
  std::vector<Dim>* lists[] = {&out.axes, &out.begin, &out.end, &out.strides};
  Known known = Known::kYes;
  for (size_t i = 1; i < call.args.size(); ++i) {
    const Known part = IntTuple(call, i, ctx, *lists[i - 1]);
    if (part == Known::kError) return part;
    if (part == Known::kNo) known = part;
  }
  if (known == Known::kNo) return known;
  if (call.args.size() == 4) out.strides.assign(out.axes.size(), One());
  for (size_t i = 1; i < 4; ++i) {
    if (lists[i]->size() == out.axes.size()) continue;
    ctx.Error(call, i + 1,
              fmt::format("{} has {} values for {} axes", OperandName(call, i + 1), lists[i]->size(), out.axes.size()));
    return Known::kError;
  }
  return known;
}

}  // namespace

IROPT_TYPE_RULE(InferStridedSlice,
                "on each of `axes` the number of steps from `begin` to `end`, never negative; only the rank if these "
                "are not known") {
  if (!CheckArity(call, 4, 5, ctx)) return nullptr;
  const TensorType* x = TensorArg(call, 0, ctx);
  SliceBounds bounds;
  const Known known = x ? ReadSliceBounds(call, ctx, bounds) : Known::kError;
  if (known == Known::kError) return nullptr;
  std::vector<int64_t> given;
  for (const Dim axis : bounds.axes) {
    if (const int64_t* value = arith::AsInt(axis)) given.push_back(*value);
  }
  if (known == Known::kNo || !x->has_shape() || given.size() != bounds.axes.size()) return WithRank(x, x->ndim);
  const List<Dim>* data = ShapeValues(x);
  if (!data) return given.empty() ? x : WithRank(x, x->ndim);
  std::vector<int> axes;
  if (!NormalizeAxes(call, x->ndim, given, ctx, axes)) return nullptr;
  const bool assume_inbound = StridedSliceAttrs(call).assume_inbound();
  DimList dims(*data);
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = dims[static_cast<size_t>(axes[i])];
    if (arith::IsInt(bounds.strides[i], 0)) return ctx.Error(call, 4, "a stride must not be 0");
    dim = RangeOfSlice(bounds.begin[i], bounds.end[i], bounds.strides[i], dim, assume_inbound).length;
  }
  return TensorType::Get(dims, x->dtype, x->vdevice);
}

IROPT_TYPE_RULE(InferDynamicStridedSlice, "the rank of `x`") {
  const TensorType* x[4];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  if (!HasRank(x[0])) return WithRank(x[0], kUnknownDim);
  for (size_t i = 1; i < 4; ++i) {
    const int64_t* count = x[i]->ndim == 1 && x[i]->known ? arith::AsInt(x[i]->dims[0]) : nullptr;
    if (!count || *count != x[0]->ndim) {
      return ctx.Error(call, i,
                       fmt::format("{} must be a tensor of {} elements, but is of type {}", OperandName(call, i),
                                   x[0]->ndim, TypeToString(x[i])));
    }
    if (!x[i]->dtype.is_void() && x[i]->dtype != DataType::Int(64)) {
      return ctx.Error(
          call, i, fmt::format("{} must have dtype int64, but has {}", OperandName(call, i), x[i]->dtype.ToString()));
    }
  }
  return WithRank(x[0], x[0]->ndim);
}

// ---- Search

IROPT_TYPE_RULE(InferArgReduce, "without `axis`, int64") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const ArgmaxArgminAttrs attrs(call);
  const auto given = attrs.axis();
  const bool keepdims = attrs.keepdims();
  const DataType dtype = DataType::Int(64);
  if (!HasRank(x)) {
    if (!given && !keepdims) return TensorType::Get(std::span<const Dim>(), dtype, x->vdevice);
    return TensorType::Get(kUnknownDim, dtype, x->vdevice);
  }
  const auto axis = given ? NormalizeAxis(call, x->ndim, *given, ctx) : -1;
  if (!axis) return nullptr;
  const int ndim = keepdims ? x->ndim : given ? x->ndim - 1 : 0;
  if (!x->known && given && ndim != 0) return TensorType::Get(ndim, dtype, x->vdevice);
  DimList dims;
  for (int i = 0; i < x->ndim; ++i) {
    if (given && i != *axis)
      dims.push_back(x->dims[i]);
    else if (keepdims)
      dims.push_back(One());
  }
  return TensorType::Get(dims, dtype, x->vdevice);
}

IROPT_TYPE_RULE(InferUnique,
                "the values, of rank 1 or that of `x` with `axis`; a tuple with the other requested results, int64") {
  if (!CheckArity(call, 5, 6, ctx)) return nullptr;
  const TensorType* x = TensorArg(call, 0, ctx);
  if (!x) return nullptr;
  int64_t extra = 0;
  for (size_t i = 2; i < 5; ++i) {
    const auto* flag = As<PrimValue>(call.args[i]);
    const int64_t* value = flag ? arith::AsInt(flag->value) : nullptr;
    if (!value) return ctx.Error(call, i, fmt::format("{} must be a constant", OperandName(call, i)));
    extra += *value != 0;
  }
  const auto* axis = call.args.size() == 6 ? As<PrimValue>(call.args[5]) : nullptr;
  const int64_t* axis_value = axis ? arith::AsInt(axis->value) : nullptr;
  if (axis_value && HasRank(x) && !NormalizeAxis(call, x->ndim, *axis_value, ctx)) return nullptr;
  const Dim one[] = {One()};
  const auto result = [&](DataType dtype, int ndim) {
    return x->ndim == 0 ? TensorType::Get(one, dtype, x->vdevice) : TensorType::Get(ndim, dtype, x->vdevice);
  };
  std::vector<const Type*> results(static_cast<size_t>(1 + extra), result(DataType::Int(64), 1));
  results[0] = result(x->dtype, axis ? x->ndim : 1);
  return results.size() == 1 ? results[0] : TupleType::Get(results);
}

IROPT_TYPE_RULE(InferNonzero, "of rank 2, a row for each axis of `x`, int64") {
  const TensorType* x = UnaryArg(call, ctx);
  return x ? TensorType::Get(2, DataType::Int(64), x->vdevice) : nullptr;
}

// ---- Order

IROPT_TYPE_RULE(InferSort, "that of `data`") { return UnaryArg(call, ctx); }

IROPT_TYPE_RULE(InferArgsort, "the shape of `data`, `dtype`") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const DataType dtype = ArgsortAttrs(call).dtype();
  return WithDType(x, dtype.is_void() ? x->dtype : dtype, ctx);
}

IROPT_TYPE_RULE(InferTopk,
                "values and indices with `k` on `axis`, a tuple of both or one of them; indices are of `dtype`") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const TopKAttrs attrs(call);
  const DataType given = attrs.dtype();
  const DataType index_dtype = given.is_void() ? x->dtype : given;
  const TensorType* values = WithRank(x, x->ndim);
  const TensorType* indices = TensorType::Get(x->ndim, index_dtype, x->vdevice);
  if (x->known) {
    const auto axis = NormalizeAxis(call, x->ndim, attrs.axis(), ctx);
    if (!axis) return nullptr;
    DimList dims(x->dims);
    const int64_t k = attrs.k();
    const int64_t* length = arith::AsInt(x->dims[*axis]);
    if (k > 0 && (!length || k < *length)) dims[static_cast<size_t>(*axis)] = kDims.Int(k);
    values = TensorType::Get(dims, x->dtype, x->vdevice);
    indices = TensorType::Get(dims, index_dtype, x->vdevice);
  }
  const std::string_view ret_type = attrs.ret_type();
  if (!CheckChoice(call, "ret_type", ret_type, "both values indices", ctx)) return nullptr;
  const Type* both[] = {values, indices};
  if (ret_type == "both") return TupleType::Get(both);
  return ret_type == "values" ? values : indices;
}

// ---- Sampling

IROPT_TYPE_RULE(InferMultinomialFromUniform, "the shape of `uniform_sample`, `dtype`") {
  const TensorType* x[3];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const DataType dtype = MultinomialFromUniformAttrs(call).dtype();
  for (size_t i = 0; i < 3; ++i) {
    const bool fits = i < 2 ? x[i]->dtype.is_floating() : x[i]->dtype.is_int();
    if (fits) continue;
    return ctx.Error(call, i,
                     fmt::format("{} must have {} dtype, but has {}", OperandName(call, i),
                                 i < 2 ? "a floating-point" : "an integer", x[i]->dtype.ToString()));
  }
  if (!HasRank(x[0]) || !HasRank(x[1]) || !HasRank(x[2])) return TensorType::Get(kUnknownDim, dtype, x[0]->vdevice);
  for (size_t i = 0; i < 3; ++i) {
    if (x[i]->ndim != 2)
      return ctx.Error(call, i, fmt::format("{} must have rank 2, but has {}", OperandName(call, i), x[i]->ndim));
  }
  if (!x[0]->known || !x[1]->known || !x[2]->known) return TensorType::Get(2, dtype, x[0]->vdevice);
  if (!arith::ProveEqual(x[1]->dims[0], x[2]->dims[0])) {
    return ctx.Error(call, 2,
                     fmt::format("{} must have as many rows as the samples, but has {} for {}", OperandName(call, 2),
                                 DimToString(x[2]->dims[0]), DimToString(x[1]->dims[0])));
  }
  for (size_t i = 1; i < 3; ++i) {
    if (!IsOne(x[i]->dims[1])) {
      return ctx.Error(
          call, i,
          fmt::format("{} must have one column, but has shape {}", OperandName(call, i), DimsToString(x[i]->dims)));
    }
  }
  const Dim dims[] = {x[1]->dims[0], One()};
  return TensorType::Get(dims, dtype, x[0]->vdevice);
}

// ---- Scattering

namespace {

// The operations that combine an update with the element.
constexpr std::string_view kReductions = "update add mul mean max min";

}  // namespace

IROPT_TYPE_RULE(InferScatterElements, "that of `data`; `indices` and `updates` have one shape") {
  const TensorType* x[3];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  if (!CheckChoice(call, "reduction", ScatterElementsAttrs(call).reduction(), kReductions, ctx)) return nullptr;
  const auto [data, indices, updates] = x;
  if (!HasRank(data)) return WithRank(data, kUnknownDim);
  for (size_t i = 1; i < 3; ++i) {
    if (!HasRank(indices) || !HasRank(updates) || x[i]->ndim == data->ndim) continue;
    return ctx.Error(
        call, i,
        fmt::format("{} must have rank {} as the data, but has {}", OperandName(call, i), data->ndim, x[i]->ndim));
  }
  if (!CommonDType(call, 0, data->dtype, 2, updates->dtype, ctx)) return nullptr;
  if (!CheckIntegerDType(call, 1, indices->dtype, ctx)) return nullptr;
  for (uint32_t i = 0; indices->known && updates->known && i < indices->dims.size(); ++i) {
    if (arith::ProveNotEqual(indices->dims[i], updates->dims[i])) {
      return ctx.Error(call, 2,
                       fmt::format("{} must have the shape {} of the indices, but has {}", OperandName(call, 2),
                                   DimsToString(indices->dims), DimsToString(updates->dims)));
    }
  }
  return data->known ? data : WithRank(data, data->ndim);
}

IROPT_TYPE_RULE(InferScatterNd, "that of `data`; `updates` has the shape that `indices` picks") {
  const TensorType* x[3];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  if (!CheckChoice(call, "reduction", ScatterNDAttrs(call).reduction(), kReductions, ctx)) return nullptr;
  const auto [data, indices, updates] = x;
  for (const size_t i : {0, 2}) {
    if (x[i]->dtype.is_void())
      return ctx.Error(call, i, fmt::format("{} must have a known dtype", OperandName(call, i)));
  }
  if (!CommonDType(call, 0, data->dtype, 2, updates->dtype, ctx)) return nullptr;
  if (!CheckIntegerDType(call, 1, indices->dtype, ctx)) return nullptr;
  if (data->known && indices->known && updates->known) {
    const int64_t* depth = indices->ndim > 0 ? arith::AsInt(indices->dims.back()) : nullptr;
    if (!depth)
      return ctx.Error(call, 1, fmt::format("{} must have a constant length on its last axis", OperandName(call, 1)));
    if (*depth < 0 || *depth > data->ndim) {
      return ctx.Error(
          call, 1,
          fmt::format("{} addresses {} axes of a tensor of rank {}", OperandName(call, 1), *depth, data->ndim));
    }
    DimList expected;
    for (int i = 0; i + 1 < indices->ndim; ++i) expected.push_back(indices->dims[i]);
    for (auto i = static_cast<int>(*depth); i < data->ndim; ++i) expected.push_back(data->dims[i]);
    const auto actual = updates->dims.span();
    if (!std::equal(expected.begin(), expected.end(), actual.begin(), actual.end(), arith::ProveEqual)) {
      return ctx.Error(call, 2,
                       fmt::format("{} must have shape {}, but has {}", OperandName(call, 2), DimsToString(expected),
                                   DimsToString(actual)));
    }
  }
  return data->known ? data : WithRank(data, data->ndim);
}

}  // namespace iropt
