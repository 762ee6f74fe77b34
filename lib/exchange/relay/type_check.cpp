#include "type_check.h"

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/support/stack.h"

namespace iropt::relay {

namespace {

bool DimsAgree(const TensorType& a, const TensorType& b) {
  if (a.ndim != kUnknownDim && b.ndim != kUnknownDim && a.ndim != b.ndim) return false;
  if (!a.known || !b.known) return true;
  return std::ranges::equal(a.dims, b.dims, [](const PrimExpr* x, const PrimExpr* y) {
    const int64_t* first = arith::AsInt(x);
    const int64_t* second = arith::AsInt(y);
    return first == nullptr || second == nullptr || *first == *second;
  });
}

}  // namespace

bool Agrees(const Type* annotated, const Type* inferred) {
  if (annotated == inferred || Is<ObjectType>(annotated) || Is<ObjectType>(inferred)) return true;
  if (annotated->kind != inferred->kind) return false;
  if (const auto* tensor = As<TensorType>(annotated)) {
    const auto* other = To<TensorType>(inferred);
    return (tensor->dtype == other->dtype || other->dtype.is_void()) && DimsAgree(*tensor, *other);
  }
  const auto agree = [](const Type* a, const Type* b) { return WithStack([&] { return Agrees(a, b); }); };
  if (const auto* tuple = As<TupleType>(annotated))
    return std::ranges::equal(tuple->fields, To<TupleType>(inferred)->fields, agree);
  if (const auto* func = As<FuncType>(annotated)) {
    const auto* other = To<FuncType>(inferred);
    return func->opaque || other->opaque ||
           (std::ranges::equal(func->params, other->params, agree) && agree(func->ret, other->ret));
  }
  return true;
}

}  // namespace iropt::relay
