#include "iropt/ir/type.h"

#include <algorithm>

#include "context_impl.h"

namespace iropt {

namespace {

template <class T>
bool SameTypeField(const T& a, const T& b) {
  if constexpr (std::is_convertible_v<T, const Type*>) {
    return TypeEqual(a, b);
  } else if constexpr (std::is_same_v<T, List<const Type*>>) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), TypeEqual);
  } else {
    return a == b;
  }
}

List<const PrimExpr*> DimList(std::span<const PrimExpr* const> dims) {
  for (const PrimExpr* dim : dims) IROPT_CHECK(dim->interned(), "a dimension that is not interned");
  return {dims.data(), dims.size()};
}

}  // namespace

const ObjectType* ObjectType::Get() { return Context().Make(ObjectType()); }

const ObjectType* ObjectType::AfterError() {
  static const ObjectType type;
  return &type;
}

const PrimType* PrimType::Get(DataType dtype) { return Context().Make(PrimType(dtype, nullptr)); }

const PrimType* PrimType::Get(const PrimExpr* value) {
  IROPT_CHECK(value->interned(), "a value that is not interned in a type");
  return Context().Make(PrimType(value->dtype, value));
}

const ShapeType* ShapeType::Get(int ndim) { return Context().Make(ShapeType(ndim, false, {})); }

const ShapeType* ShapeType::Get(std::span<const PrimExpr* const> values) {
  return Context().Make(ShapeType(static_cast<int32_t>(values.size()), true, DimList(values)));
}

const TensorType* TensorType::Get(std::span<const PrimExpr* const> dims, DataType dtype, const VDeviceAttr* vdevice) {
  return Context().Make(TensorType(dtype, static_cast<int32_t>(dims.size()), true, DimList(dims), nullptr, vdevice));
}

const TensorType* TensorType::Get(int ndim, DataType dtype, const VDeviceAttr* vdevice) {
  return Context().Make(TensorType(dtype, ndim, false, {}, nullptr, vdevice));
}

const TensorType* TensorType::WithShapeVar(Arena& arena, const Expr* shape_var, DataType dtype,
                                           const VDeviceAttr* vdevice) {
  const auto* shape = As<ShapeType>(shape_var->type);
  const int32_t ndim = shape ? shape->ndim : kUnknownDim;
  return Context().MakeType(TensorType(dtype, ndim, false, {}, shape_var, vdevice), &arena);
}

const DTensorType* DTensorType::Get(const TensorType* tensor, const DeviceMeshAttr* mesh, std::string_view placement) {
  return Context().MakeType(DTensorType(tensor, mesh, placement));
}

const TupleType* TupleType::Get(std::span<const Type* const> fields) {
  return Context().MakeType(TupleType({fields.data(), fields.size()}));
}

const TupleType* TupleType::Get(Arena& arena, std::span<const Type* const> fields) {
  return Context().MakeType(TupleType({fields.data(), fields.size()}), &arena);
}

const FuncType* FuncType::Get(std::span<const Type* const> params, const Type* ret, bool purity) {
  return Context().MakeType(FuncType(false, purity, {params.data(), params.size()}, ret, {}));
}

const FuncType* FuncType::Get(Arena& arena, std::span<const Type* const> params, const Type* ret, bool purity) {
  return Context().MakeType(FuncType(false, purity, {params.data(), params.size()}, ret, {}), &arena);
}

const FuncType* FuncType::Opaque(const Type* ret, bool purity, std::string_view derive_func) {
  return Context().MakeType(FuncType(true, purity, {}, ret, derive_func));
}

bool TypeEqual(const Type* a, const Type* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->kind != b->kind || !a->has_shape_var() || !b->has_shape_var()) return false;
  return DispatchIn<NodeGroup::kType>(a, [&]<class X>(const X* type) {
    return FieldsEqual(*type, *static_cast<const X*>(b),
                       [](auto, const auto& x, const auto& y) { return SameTypeField(x, y); });
  });
}

}  // namespace iropt
