// Type rules of elementwise operators, and of those that change only the dtype.
#include <fmt/format.h>

#include <algorithm>

#include "infer/type_util.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/quantize.h"

namespace iropt {

using namespace rules;

// ---- One operand

IROPT_TYPE_RULE(InferUnaryArith, "that of the operand") { return UnaryArg(call, ctx); }

IROPT_TYPE_RULE(InferUnaryArithFloat, "that of the operand, which has a floating-point dtype") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x || x->dtype.is_floating() || x->dtype.is_void()) [[likely]]
    return x;
  return ctx.Error(
      call, 0,
      fmt::format("{} must have a floating-point dtype, but has {}", OperandName(call, 0), x->dtype.ToString()));
}

IROPT_TYPE_RULE(InferUnaryCheck, "the shape of the operand, bool") {
  const TensorType* x = UnaryArg(call, ctx);
  return x ? WithDType(x, DataType::Bool(), ctx) : nullptr;
}

IROPT_TYPE_RULE(InferClip, "that of `x`") { return CheckArity(call, 3, 3, ctx) ? TensorArg(call, 0, ctx) : nullptr; }

IROPT_TYPE_RULE(InferAstype, "the shape of the operand, `dtype`") {
  const TensorType* x = UnaryArg(call, ctx);
  return x ? WithDType(x, AstypeAttrs(call).dtype(), ctx) : nullptr;
}

IROPT_TYPE_RULE(InferWrapParam, "the shape of the operand, `dtype`") { return InferAstype(call, ctx); }

// ---- Two operands, tensors or scalars

namespace {

std::optional<DataType> ElementType(const Type* type) {
  if (const auto* tensor = As<TensorType>(type)) return tensor->dtype;
  if (const auto* prim = As<PrimType>(type)) return prim->dtype;
  return std::nullopt;
}

// A scalar broadcasts as a tensor of one element.
int RankOf(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  return tensor ? tensor->ndim : 1;
}

const Type* InferBroadcast(const Call& call, InferContext& ctx, std::optional<DataType> result_dtype) {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  const Type* a = call.args[0]->type;
  const Type* b = call.args[1]->type;
  const auto* x = As<TensorType>(a);
  const auto* y = As<TensorType>(b);
  for (size_t i = 0; i < 2; ++i) {
    const Type* type = i == 0 ? a : b;
    if (ElementType(type)) continue;
    return ctx.Error(
        call, i,
        fmt::format("{} must be a tensor or a scalar, but is of type {}", OperandName(call, i), TypeToString(type)));
  }
  // An operator with a fixed dtype of the result does not need operands of one dtype.
  const auto common = result_dtype ? result_dtype : CommonDType(call, 0, *ElementType(a), 1, *ElementType(b), ctx);
  if (!common) return nullptr;
  const DataType dtype = *common;
  if (!x && !y) return PrimType::Get(dtype);
  const auto vdevice = CommonVDevice(call, a, b, ctx);
  if (!vdevice) return nullptr;
  const int ndim = RankOf(a) == kUnknownDim || RankOf(b) == kUnknownDim ? kUnknownDim : std::max(RankOf(a), RankOf(b));
  const Dim one[] = {One()};
  const List<Dim> scalar(one, 1);
  const List<Dim>* x_dims = x ? ShapeValues(x) : &scalar;
  const List<Dim>* y_dims = y ? ShapeValues(y) : &scalar;
  if (x_dims && y_dims) {
    DimList dims;
    const Known known = Broadcast(call, *x_dims, *y_dims, ctx, dims);
    if (known == Known::kError) return nullptr;
    if (known == Known::kYes) return TensorType::Get(dims, dtype, *vdevice);
  }
  if (x && y && x->shape_var && x->shape_var == y->shape_var)
    return TensorType::WithShapeVar(ctx.arena(), x->shape_var, dtype, *vdevice);
  return TensorType::Get(ndim, dtype, *vdevice);
}

}  // namespace

IROPT_TYPE_RULE(InferBroadcastArith, "the shapes broadcast, the dtype that both have; a scalar if both are scalars") {
  // The common case by far: tensors of one type.
  if (call.args.size() == 2) [[likely]] {
    const Type* type = call.args[0]->type;
    if (type == call.args[1]->type && type->kind == NodeKind::kTensorType && !type->has_shape_var()) return type;
  }
  return InferBroadcast(call, ctx, std::nullopt);
}

IROPT_TYPE_RULE(InferBroadcastCmp, "the shapes broadcast, bool; a scalar if both are scalars") {
  return InferBroadcast(call, ctx, DataType::Bool());
}

// ---- Three operands

IROPT_TYPE_RULE(InferEwiseFma, "that of the operands, which have one shape and dtype") {
  const TensorType* x[3];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  int ndim = kUnknownDim;
  for (size_t i = 0; i < 3; ++i) {
    if (!HasRank(x[i])) continue;
    if (ndim != kUnknownDim && ndim != x[i]->ndim) {
      return ctx.Error(
          call, i,
          fmt::format("{} must have rank {} as the others, but has {}", OperandName(call, i), ndim, x[i]->ndim));
    }
    ndim = x[i]->ndim;
  }
  const bool dtypes = std::none_of(std::begin(x), std::end(x), [](const TensorType* t) { return t->dtype.is_void(); });
  for (size_t i = 1; dtypes && i < 3; ++i) {
    if (!CommonDType(call, 0, x[0]->dtype, i, x[i]->dtype, ctx)) return nullptr;
  }
  const DataType dtype = dtypes ? x[0]->dtype : DataType::Void();
  const VDeviceAttr* vdevice = JoinVDevices(x);
  if (x[0]->known && x[1]->known && x[2]->known) {
    for (int i = 0; i < ndim; ++i) {
      for (size_t j = 1; j < 3; ++j) {
        if (arith::ProveEqual(x[0]->dims[i], x[j]->dims[i])) continue;
        return ctx.Error(call, j,
                         fmt::format("{} must have the shape {} as the others, but has {}", OperandName(call, j),
                                     DimsToString(x[0]->dims), DimsToString(x[j]->dims)));
      }
    }
    return TensorType::Get(x[0]->dims, dtype, vdevice);
  }
  const bool same_var = x[0]->shape_var && x[0]->shape_var == x[1]->shape_var && x[0]->shape_var == x[2]->shape_var;
  if (same_var) return TensorType::WithShapeVar(ctx.arena(), x[0]->shape_var, dtype, vdevice);
  return TensorType::Get(ndim, dtype, vdevice);
}

IROPT_TYPE_RULE(InferWhere, "the three shapes broadcast, the dtype that `x1` and `x2` have; `condition` is bool") {
  const TensorType* x[3];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  if (!x[0]->dtype.is_bool()) {
    return ctx.Error(call, 0,
                     fmt::format("{} must have dtype bool, but has {}", OperandName(call, 0), x[0]->dtype.ToString()));
  }
  const auto dtype = CommonDType(call, 1, x[1]->dtype, 2, x[2]->dtype, ctx);
  if (!dtype) return nullptr;
  const VDeviceAttr* vdevice = JoinVDevices(x);
  const bool ranks = HasRank(x[0]) && HasRank(x[1]) && HasRank(x[2]);
  const int ndim = ranks ? std::max({x[0]->ndim, x[1]->ndim, x[2]->ndim}) : kUnknownDim;
  if (x[0]->known && x[1]->known && x[2]->known) {
    DimList branches;
    DimList dims;
    Known known = Broadcast(call, x[1]->dims, x[2]->dims, ctx, branches);
    if (known == Known::kYes) known = Broadcast(call, x[0]->dims, branches, ctx, dims);
    if (known == Known::kError) return nullptr;
    return known == Known::kYes ? TensorType::Get(dims, *dtype, vdevice) : TensorType::Get(ndim, *dtype, vdevice);
  }
  const bool same_var = x[0]->shape_var && x[0]->shape_var == x[1]->shape_var && x[0]->shape_var == x[2]->shape_var;
  if (same_var) return TensorType::WithShapeVar(ctx.arena(), x[0]->shape_var, *dtype, vdevice);
  return TensorType::Get(ndim, *dtype, vdevice);
}

// ---- Quantization

namespace {

bool OneOf(DataType dtype, std::initializer_list<DataType> allowed) {
  return std::find(allowed.begin(), allowed.end(), dtype) != allowed.end();
}

constexpr DataType kFloat16 = DataType::Float(16);
constexpr DataType kFloat32 = DataType::Float(32);
constexpr DataType kE4M3 = DataType::Make(TypeCode::kFloat8E4M3, 8, 1);
constexpr DataType kE5M2 = DataType::Make(TypeCode::kFloat8E5M2, 8, 1);

// Returns whether the tensor has one element, in rank 0 or 1. TVM 0.18 takes rank 0 only.
bool HasOneElement(const TensorType* t) {
  if (t->ndim == 0) return t->has_shape();
  const List<Dim>* dims = ShapeValues(t);
  return t->ndim == 1 && dims && arith::IsInt((*dims)[0], 1);
}

// A scale or zero point has one element, or one for each position on the axis.
bool CheckQuantParam(const Call& call, const TensorType* data, size_t i, const TensorType* param, int axis,
                     InferContext& ctx) {
  if (HasOneElement(param)) return true;
  const List<Dim>* dims = ShapeValues(param);
  const List<Dim>* data_dims = ShapeValues(data);
  if (data->ndim == 0 && dims) {
    ctx.Error(call, i, fmt::format("{} must have one element, as the data has", OperandName(call, i)));
    return false;
  }
  if (!dims || !data_dims || dims->empty()) {
    ctx.Error(call, i, fmt::format("{} must have a known shape, as must the data", OperandName(call, i)));
    return false;
  }
  if (arith::ProveEqual((*dims)[0], (*data_dims)[axis])) return true;
  ctx.Error(call, i,
            fmt::format("{} has {} elements, but the data has {} on axis {}", OperandName(call, i),
                        DimToString((*dims)[0]), DimToString((*data_dims)[axis]), axis));
  return false;
}

const Type* InferQuant(const Call& call, InferContext& ctx, std::initializer_list<DataType> in,
                       std::initializer_list<DataType> out) {
  const TensorType* x[3];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const DataType out_dtype = QuantizeAttrs(call).out_dtype();
  if (!OneOf(out_dtype, out)) return ctx.Error(call, fmt::format("cannot give dtype {}", out_dtype.ToString()));
  const auto wrong = [&](size_t i) {
    return ctx.Error(call, i, fmt::format("{} cannot have dtype {}", OperandName(call, i), x[i]->dtype.ToString()));
  };
  if (!OneOf(x[0]->dtype, in)) return wrong(0);
  if (!OneOf(x[1]->dtype, {kFloat32, kFloat16})) return wrong(1);
  // TVM 0.18 has int8 and float16 only.
  if (!OneOf(x[2]->dtype, {DataType::Int(8), DataType::UInt(8), DataType::Int(16), DataType::UInt(16),
                           DataType::Int(32), DataType::UInt(32), kFloat16}))
    return wrong(2);
  // A number has no axis.
  const bool has_axes = x[0]->ndim != 0;
  const auto axis = has_axes ? NormalizeAxis(call, x[0]->ndim, QuantizeAttrs(call).axis(), ctx) : 0;
  if (!axis) return nullptr;
  for (size_t i = 1; i < 3; ++i) {
    if (!CheckQuantParam(call, x[0], i, x[i], *axis, ctx)) return nullptr;
  }
  return WithDType(x[0], out_dtype, ctx);
}

}  // namespace

IROPT_TYPE_RULE(InferQuantize,
                "the shape of `data`, `out_dtype`; the parameters are scalars or have the length of `axis`") {
  return InferQuant(call, ctx, {kFloat16, kFloat32},
                    {DataType::Int(8), DataType::UInt(8), DataType::Int(16), DataType::UInt(16), kE4M3, kE5M2});
}

IROPT_TYPE_RULE(InferDequantize,
                "the shape of `data`, `out_dtype`; the parameters are scalars or have the length of `axis`") {
  return InferQuant(call, ctx,
                    {DataType::Int(8), DataType::UInt(8), DataType::Int(16), DataType::UInt(16), DataType::Int(32),
                     kE4M3, kE5M2, kFloat16, kFloat32},
                    {kFloat16, kFloat32});
}

}  // namespace iropt
