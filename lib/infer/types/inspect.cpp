// Type rules of operators that read the fields of a tensor at run time. If a field is known at compile time, its value
// is in the type.
#include <fmt/format.h>

#include "infer/type_util.h"
#include "iropt/ir/dlpack.h"

namespace iropt {

using namespace rules;

namespace {

const Type* FieldType(DataType dtype, std::optional<int64_t> value) {
  return value ? PrimType::Get(kDims.Int(*value, dtype)) : PrimType::Get(dtype);
}

template <class F>
const Type* DTypeField(const Call& call, InferContext& ctx, DataType dtype, F value) {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  return FieldType(dtype, x->dtype.is_void() ? std::nullopt : std::optional<int64_t>(value(x->dtype)));
}

// A tensor and an axis of it.
struct AxisOperands {
  const TensorType* tensor;
  std::optional<int64_t> axis;
};

std::optional<AxisOperands> ReadAxis(const Call& call, InferContext& ctx) {
  if (!CheckArity(call, 2, 2, ctx)) return std::nullopt;
  AxisOperands x{TensorArg(call, 0, ctx), std::nullopt};
  if (!x.tensor) return std::nullopt;
  const auto* prim = As<PrimType>(call.args[1]->type);
  if (!prim) {
    ctx.Error(
        call, 1,
        fmt::format("{} must be a number, but is of type {}", OperandName(call, 1), TypeToString(call.args[1]->type)));
    return std::nullopt;
  }
  const int64_t* axis = prim->value ? arith::AsInt(prim->value) : nullptr;
  if (!axis) return x;
  if (*axis < 0 || (HasRank(x.tensor) && *axis >= x.tensor->ndim)) {
    ctx.Error(call, 1, fmt::format("axis {} is out of range for a tensor of type {}", *axis, TypeToString(x.tensor)));
    return std::nullopt;
  }
  x.axis = *axis;
  return x;
}

const Type* OffsetField(const Call& call, InferContext& ctx) {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  // Tensors of known shape are compact and start at the beginning of their storage.
  return FieldType(DataType::UInt(64), ShapeValues(x) ? std::optional<int64_t>(0) : std::nullopt);
}

}  // namespace

IROPT_TYPE_RULE(InferInspectDtypeCode, "a uint8, known if the dtype is") {
  return DTypeField(call, ctx, DataType::UInt(8), [](DataType t) { return DLPackCode(t.code); });
}

IROPT_TYPE_RULE(InferInspectDtypeBits, "a uint8, known if the dtype is") {
  return DTypeField(call, ctx, DataType::UInt(8), [](DataType t) { return t.bits; });
}

IROPT_TYPE_RULE(InferInspectDtypeLanes, "a uint16, known if the dtype is") {
  return DTypeField(call, ctx, DataType::UInt(16), [](DataType t) { return t.lanes; });
}

IROPT_TYPE_RULE(InferInspectNdim, "an int32, known if the rank is") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  return FieldType(DataType::Int(32), HasRank(x) ? std::optional<int64_t>(x->ndim) : std::nullopt);
}

IROPT_TYPE_RULE(InferInspectShapeI, "an int64, known if the shape is") {
  const auto x = ReadAxis(call, ctx);
  if (!x) return nullptr;
  const List<Dim>* dims = ShapeValues(x->tensor);
  if (dims && x->axis) return PrimType::Get((*dims)[static_cast<size_t>(*x->axis)]);
  return PrimType::Get(DataType::Int(64));
}

IROPT_TYPE_RULE(InferInspectStrideI, "an int64, known if the shape is") {
  const auto x = ReadAxis(call, ctx);
  if (!x) return nullptr;
  const List<Dim>* dims = ShapeValues(x->tensor);
  if (dims && x->axis) return PrimType::Get(Product(dims->span().subspan(static_cast<size_t>(*x->axis) + 1)));
  return PrimType::Get(DataType::Int(64));
}

IROPT_TYPE_RULE(InferInspectByteOffset, "a uint64, 0 if the shape is known") { return OffsetField(call, ctx); }

IROPT_TYPE_RULE(InferInspectElemOffset, "a uint64, 0 if the shape is known") { return OffsetField(call, ctx); }

}  // namespace iropt
