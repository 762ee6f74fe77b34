// Type rules of operators that make tensors: constants, ranges, triangles; and of shapes, storage and devices.
#include "iropt/op/ops/create.h"

#include <fmt/format.h>

#include <cmath>

#include "infer/type_util.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/device.h"

namespace iropt {

using namespace rules;

IROPT_TYPE_RULE(InferFull, "`shape`, and `dtype` or that of `fill_value`, which has rank 0") {
  if (!CheckArity(call, 2, 2, ctx) || !ShapeArg(call, 0, ctx)) return nullptr;
  const auto* fill = As<TensorType>(call.args[1]->type);
  if (!fill || fill->ndim != 0) {
    return ctx.Error(call, 1,
                     fmt::format("{} must be a tensor of rank 0, but is of type {}", OperandName(call, 1),
                                 TypeToString(call.args[1]->type)));
  }
  const DataType dtype = InitAttrs(call).dtype();
  return WithShapeExpr(call.args[0], dtype.is_void() ? fill->dtype : dtype, fill->vdevice, ctx);
}

IROPT_TYPE_RULE(InferFullLike, "the shape of `x`, and `dtype` or that of `x`; `fill_value` has rank 0") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  if (x[1]->ndim != 0)
    return ctx.Error(call, 1,
                     fmt::format("{} must be a tensor of rank 0, but has rank {}", OperandName(call, 1), x[1]->ndim));
  const DataType dtype = InitAttrs(call).dtype();
  return dtype.is_void() ? x[0] : WithDType(x[0], dtype, ctx);
}

IROPT_TYPE_RULE(InferOnesZeros, "`shape`, `dtype`") {
  if (!CheckArity(call, 1, 1, ctx) || !ShapeArg(call, 0, ctx)) return nullptr;
  const DataType dtype = InitAttrs(call).dtype();
  if (dtype.is_void()) return ctx.Error(call, "needs a dtype");
  return WithShapeExpr(call.args[0], dtype, nullptr, ctx);
}

IROPT_TYPE_RULE(InferOnesZerosLike, "the shape of `x`, and `dtype` or that of `x`") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const DataType dtype = InitAttrs(call).dtype();
  return dtype.is_void() ? x : WithDType(x, dtype, ctx);
}

namespace {

// The number of steps of a range of floats: ceil(float32(end - start) / step). Null if it is not a number.
Dim FloatSteps(Dim start, Dim end, Dim step) {
  const Dim span = kDims.Cast(DataType::Float(32), kDims.Sub(end, start));
  const auto* divisor = As<tir::FloatImm>(step);
  const Dim ratio = divisor && !As<tir::FloatImm>(span) ? kDims.Mul(span, kDims.Float(1 / divisor->value, span->dtype))
                                                        : kDims.TruncDiv(span, step);
  if (const auto* value = As<tir::FloatImm>(ratio)) {
    constexpr double kMaxSteps = 0x1p62;
    return std::abs(value->value) < kMaxSteps ? kDims.Int(static_cast<int64_t>(std::ceil(value->value))) : nullptr;
  }
  if (const int64_t* value = arith::AsInt(ratio)) return kDims.Int(*value);
  if (divisor && As<tir::FloatImm>(span)) return nullptr;
  const Dim args[] = {ratio};
  return kDims.Cast(DataType::Int(64),
                    kDims.Keep(tir::Call(ratio->dtype, GetOp(op::kTirCeil), List<const PrimExpr*>(args, 1))));
}

}  // namespace

IROPT_TYPE_RULE(
    InferArange,
    "`(end - start + step - 1) // step` elements, or as many backwards, of floats `ceil((end - start) / step)`") {
  if (!CheckArity(call, 3, 3, ctx)) return nullptr;
  Dim bounds[3];
  for (size_t i = 0; i < 3; ++i) {
    const auto* value = As<PrimValue>(call.args[i]);
    if (!value) return ctx.Error(call, i, fmt::format("{} must be a number", OperandName(call, i)));
    bounds[i] = value->value;
  }
  const auto [start, end, step] = bounds;
  const DataType dtype = InitAttrs(call).dtype();
  const auto* float_step = As<tir::FloatImm>(step);
  if (arith::IsInt(step, 0) || (float_step && float_step->value == 0))
    return ctx.Error(call, 2, fmt::format("{} must not be 0", OperandName(call, 2)));
  if (start->dtype.is_int() && end->dtype.is_int() && step->dtype.is_int()) {
    // Steps of a negative number are counted from the end to the start.
    const int64_t* number = arith::AsInt(step);
    const bool is_backwards = number != nullptr && *number < 0;
    const Dim length = is_backwards ? kDims.Sub(start, end) : kDims.Sub(end, start);
    const Dim width = is_backwards ? kDims.Sub(kDims.Int(0, step->dtype), step) : step;
    const Dim count = arith::Simplify(kDims.CeilDiv(length, width));
    const int64_t* known = arith::AsInt(count);
    const Dim steps[] = {known ? kDims.Int(std::max<int64_t>(0, *known)) : kDims.Cast(DataType::Int(64), count)};
    return TensorType::Get(steps, dtype);
  }
  const Dim steps[] = {FloatSteps(start, end, step)};
  if (steps[0]) return TensorType::Get(steps, dtype);
  return ctx.Error(call, fmt::format("has no number of steps from {} to {} by {}", DimToString(start), DimToString(end),
                                     DimToString(step)));
}

IROPT_TYPE_RULE(InferEye, "`n` rows and `m` columns of `dtype`") {
  if (!CheckArity(call, 3, 3, ctx)) return nullptr;
  DimList dims;
  for (size_t i = 0; i < 3; ++i) {
    const Dim value = NumberArg(call, i, ctx);
    if (!value) return nullptr;
    if (!value->dtype.is_integer())
      return ctx.Error(call, i, fmt::format("{} must be an integer", OperandName(call, i)));
    if (i < 2) dims.push_back(kDims.Cast(DataType::Int(64), value));
  }
  const DataType dtype = InitAttrs(call).dtype();
  return dtype.is_void() ? ctx.Error(call, "needs a dtype") : TensorType::Get(dims, dtype);
}

IROPT_TYPE_RULE(InferEyeLike, "the shape of `x`, which has rank 2, and `dtype` or that of `x`") {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  const TensorType* x = TensorArg(call, 0, ctx);
  if (!x || !NumberArg(call, 1, ctx)) return nullptr;
  if (HasRank(x) && x->ndim != 2)
    return ctx.Error(call, 0, fmt::format("{} must have rank 2, but has {}", OperandName(call, 0), x->ndim));
  const DataType dtype = InitAttrs(call).dtype();
  return dtype.is_void() ? x : WithDType(x, dtype, ctx);
}

IROPT_TYPE_RULE(InferHammingWindow, "`window_size` elements of `dtype`, which is a floating-point dtype") {
  if (!CheckArity(call, 4, 4, ctx)) return nullptr;
  const Dim size = NumberArg(call, 0, ctx);
  if (!size) return nullptr;
  for (size_t i = 1; i < 4; ++i) {
    if (!NumberArg(call, i, ctx)) return nullptr;
  }
  const DataType dtype = InitAttrs(call).dtype();
  if (!dtype.is_floating())
    return ctx.Error(call, fmt::format("needs a floating-point dtype, but has {}", dtype.ToString()));
  if (!size->dtype.is_integer()) return ctx.Error(call, 0, fmt::format("{} must be an integer", OperandName(call, 0)));
  arith::Analyzer analyzer;
  if (analyzer.CanProve(kDims.Binary(NodeKind::kLT, size, kDims.Int(1, size->dtype)))) {
    return ctx.Error(call, 0, fmt::format("{} must be positive, but is {}", OperandName(call, 0), DimToString(size)));
  }
  const Dim dims[] = {analyzer.Simplify(kDims.Cast(DataType::Int(64), size))};
  return TensorType::Get(dims, dtype);
}

IROPT_TYPE_RULE(InferTrilTriu, "that of `x`, which has rank 2 or more") {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  const TensorType* x = TensorArg(call, 0, ctx);
  if (!x) return nullptr;
  const auto* k = As<PrimType>(call.args[1]->type);
  if (!k)
    return ctx.Error(
        call, 1,
        fmt::format("{} must be a number, but is of type {}", OperandName(call, 1), TypeToString(call.args[1]->type)));
  if (HasRank(x) && x->ndim < 2)
    return ctx.Error(call, 0, fmt::format("{} must have rank 2 or more, but has {}", OperandName(call, 0), x->ndim));
  return x;
}

// ---- Shapes

IROPT_TYPE_RULE(InferShapeOf, "the shape of the operand") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  return x->known ? ShapeType::Get(x->dims) : ShapeType::Get(x->ndim);
}

IROPT_TYPE_RULE(InferSize, "rank 0, int64") {
  return UnaryArg(call, ctx) ? TensorType::Get(std::span<const Dim>(), DataType::Int(64)) : nullptr;
}

IROPT_TYPE_RULE(InferTensorToShape, "a shape of as many dimensions as the operand has elements") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  if (x->ndim != 1)
    return ctx.Error(call, 0, fmt::format("{} must have rank 1, but has {}", OperandName(call, 0), x->ndim));
  const int64_t* length = x->known ? arith::AsInt(x->dims[0]) : nullptr;
  return ShapeType::Get(length ? static_cast<int>(*length) : kUnknownDim);
}

IROPT_TYPE_RULE(InferShapeToTensor, "as many elements as the operand has dimensions, int64") {
  if (!CheckArity(call, 1, 1, ctx)) return nullptr;
  const ShapeType* shape = ShapeArg(call, 0, ctx);
  if (!shape) return nullptr;
  // TVM gives length -1 then, which is not a length.
  if (shape->ndim == kUnknownDim) return TensorType::Get(1, DataType::Int(64));
  const Dim length[] = {kDims.Int(shape->ndim)};
  return TensorType::Get(length, DataType::Int(64));
}

// ---- Storage

namespace {

// The dtype that an operand names; void if it names none.
DataType DTypeArg(const Call& call, size_t i) {
  const auto* dtype = As<DataTypeImm>(call.args[i]);
  return dtype ? dtype->value : DataType::Void();
}

}  // namespace

IROPT_TYPE_RULE(InferBuiltinAllocTensor, "`shape`, `dtype`, both given literally") {
  if (!CheckArity(call, 4, 4, ctx) || !ShapeArg(call, 0, ctx)) return nullptr;
  if (call.args[0]->kind != NodeKind::kShapeExpr)
    return ctx.Error(call, 0, "the shape must be given by its dimensions");
  if (call.args[1]->kind != NodeKind::kDataTypeImm) return ctx.Error(call, 1, "the dtype must be given literally");
  // From TVM 0.23 on, the type of the tensor is among the type arguments, with its device.
  const bool is_stated = call.type_args != nullptr && call.type_args->fields.size() == 1;
  const auto* stated = is_stated ? As<TensorType>(call.type_args->fields[0]) : nullptr;
  return WithShapeExpr(call.args[0], DTypeArg(call, 1), stated ? stated->vdevice : nullptr, ctx);
}

IROPT_TYPE_RULE(InferMemoryAllocTensor, "`shape`, `dtype`") {
  if (!CheckArity(call, 4, 5, ctx) || !ShapeArg(call, 2, ctx)) return nullptr;
  return WithShapeExpr(call.args[2], DTypeArg(call, 3), nullptr, ctx);
}

IROPT_TYPE_RULE(InferVmAllocTensor, "`shape`, `dtype`") {
  if (!CheckArity(call, 4, 5, ctx)) return nullptr;
  const DataType dtype = DTypeArg(call, 3);
  const auto* shape = As<ShapeType>(call.args[2]->type);
  if (!shape) return TensorType::Get(kUnknownDim, dtype);
  return shape->known ? TensorType::Get(shape->values, dtype) : TensorType::Get(shape->ndim, dtype);
}

IROPT_TYPE_RULE(InferBuiltinStopLiftParams, "that of the operand") { return UnaryArg(call, ctx); }

IROPT_TYPE_RULE(InferMemoryEnsureZeroOffset, "that of the operand") { return UnaryArg(call, ctx); }

// ---- Devices

IROPT_TYPE_RULE(InferToVdevice, "that of the operand, on `dst_vdevice`") {
  const TensorType* x = UnaryArg(call, ctx);
  return x ? WithVDevice(x, ToVDeviceAttrs(call).dst_vdevice(), ctx) : nullptr;
}

IROPT_TYPE_RULE(InferHintOnDevice, "that of the operand") { return UnaryArg(call, ctx); }

// ---- Views

namespace {

bool IsVoid(const Type* type) {
  const auto* tuple = As<TupleType>(type);
  return tuple && tuple->fields.empty();
}

// The properties that a view changes; an empty member keeps the one of the data.
struct ViewRequest {
  const ShapeType* shape = nullptr;
  std::optional<DataType> dtype;
  Dim offset = nullptr;  // null if it is not known
};

std::optional<ViewRequest> ReadView(const Call& call, InferContext& ctx) {
  ViewRequest view;
  const auto fail = [&](size_t i, std::string_view what) {
    ctx.Error(
        call, i,
        fmt::format("{} must be {}, but is of type {}", OperandName(call, i), what, TypeToString(call.args[i]->type)));
    return std::nullopt;
  };
  if (!IsVoid(call.args[1]->type)) {
    view.shape = As<ShapeType>(call.args[1]->type);
    if (!view.shape) return fail(1, "a shape");
  }
  if (!IsVoid(call.args[2]->type)) {
    if (call.args[2]->type->kind != NodeKind::kObjectType) return fail(2, "a dtype");
    view.dtype = DTypeArg(call, 2);
  }
  view.offset = kDims.Int(0);
  if (!IsVoid(call.args[3]->type)) {
    const auto* offset = As<PrimType>(call.args[3]->type);
    if (!offset || offset->dtype != DataType::Int(64)) return fail(3, "a 64-bit integer");
    view.offset = offset->value;
  }
  return view;
}

std::optional<int64_t> ElementBytes(DataType dtype) {
  return dtype.is_void() ? std::nullopt : std::optional(dtype.bytes());
}

bool ProveGreater(Dim a, Dim b) {
  arith::Analyzer analyzer;
  return analyzer.CanProve(kDims.Binary(NodeKind::kLT, b, a));
}

// A view must not reach beyond the end of its data. Returns an error message, or "".
std::string CheckView(const TensorType* data, const List<Dim>* in_dims, const List<Dim>* out_dims, DataType dtype,
                      const ViewRequest& view) {
  const Dim in_count = in_dims ? arith::Simplify(Product(*in_dims)) : nullptr;
  const Dim out_count = out_dims ? arith::Simplify(Product(*out_dims)) : nullptr;
  const auto in_bytes = ElementBytes(data->dtype);
  const auto out_bytes = ElementBytes(dtype);
  if (in_count && out_count && in_bytes && out_bytes) {
    const Dim size = kDims.Mul(in_count, kDims.Int(*in_bytes));
    Dim end = kDims.Mul(out_count, kDims.Int(*out_bytes));
    if (view.offset) end = kDims.Add(end, view.offset);
    if (ProveGreater(end, size))
      return fmt::format("ends at byte {} of a tensor of {} bytes", DimToString(end), DimToString(size));
  } else if (in_bytes && out_bytes && !view.shape) {
    if (*out_bytes > *in_bytes)
      return fmt::format("has elements of {} bytes in place of {} bytes", *out_bytes, *in_bytes);
  } else if (in_count && out_count && !view.dtype) {
    if (ProveGreater(out_count, in_count)) {
      return fmt::format("has {} elements of a tensor of {} elements", DimToString(out_count), DimToString(in_count));
    }
  } else if (view.offset && !view.shape && !view.dtype) {
    if (ProveGreater(view.offset, kDims.Int(0)))
      return fmt::format("starts at byte {} of a tensor of the same size", DimToString(view.offset));
  }
  return "";
}

}  // namespace

IROPT_TYPE_RULE(InferMemoryView, "`shape` and `dtype` if given; no view reaches beyond the end of `data`") {
  if (!CheckArity(call, 4, 4, ctx)) return nullptr;
  const TensorType* data = TensorArg(call, 0, ctx);
  const auto view = data ? ReadView(call, ctx) : std::nullopt;
  if (!view) return nullptr;
  const List<Dim>* in_dims = ShapeValues(data);
  const List<Dim>* out_dims = !view->shape ? in_dims : view->shape->known ? &view->shape->values : nullptr;
  const DataType dtype = view->dtype.value_or(data->dtype);
  const std::string problem = CheckView(data, in_dims, out_dims, dtype, *view);
  if (!problem.empty()) return ctx.Error(call, "the view " + problem);
  if (out_dims) return TensorType::Get(*out_dims, dtype, data->vdevice);
  return TensorType::Get(view->shape ? view->shape->ndim : data->ndim, dtype, data->vdevice);
}

}  // namespace iropt
