// Walks over the parts of Relax types: scalar expressions, and variables that are shapes.
#pragma once

#include "iropt/ir/relax/expr.h"
#include "iropt/support/stack.h"

namespace iropt {

// Calls f(const PrimExpr*) for every scalar expression directly in the type, in order; in function types if asked.
template <class F>
void ForEachScalar(const Type* type, bool in_functions, F&& f) {
  const auto each = [&](List<const PrimExpr*> list) {
    for (const PrimExpr* e : list) f(e);
  };
  const auto nested = [&](const Type* t) { WithStack([&] { ForEachScalar(t, in_functions, f); }); };
  if (!type->has_sym_var()) return;
  switch (type->kind) {
    case NodeKind::kPrimType: return each({&static_cast<const PrimType*>(type)->value, 1});
    case NodeKind::kShapeType: return each(static_cast<const ShapeType*>(type)->values);
    case NodeKind::kTensorType: return each(static_cast<const TensorType*>(type)->dims);
    case NodeKind::kDTensorType: return nested(static_cast<const DTensorType*>(type)->tensor);
    case NodeKind::kTupleType:
      for (const Type* field : static_cast<const TupleType*>(type)->fields) nested(field);
      return;
    case NodeKind::kFuncType:
      if (!in_functions) return;
      for (const Type* param : static_cast<const FuncType*>(type)->params) nested(param);
      return nested(static_cast<const FuncType*>(type)->ret);
    default: return;
  }
}

// Calls f(const Var*) for every variable that is the shape of a tensor in the type, which may be null.
template <class F>
void ForEachShapeVar(const Type* type, F&& f) {
  if (!type || !type->has_shape_var()) return;
  const auto nested = [&](const Type* t) { WithStack([&] { ForEachShapeVar(t, f); }); };
  switch (type->kind) {
    case NodeKind::kTensorType:
      if (const auto* var = As<Var>(static_cast<const TensorType*>(type)->shape_var)) f(var);
      return;
    case NodeKind::kDTensorType: return nested(static_cast<const DTensorType*>(type)->tensor);
    case NodeKind::kTupleType:
      for (const Type* field : static_cast<const TupleType*>(type)->fields) nested(field);
      return;
    case NodeKind::kFuncType:
      for (const Type* param : static_cast<const FuncType*>(type)->params) nested(param);
      return nested(static_cast<const FuncType*>(type)->ret);
    default: return;
  }
}

}  // namespace iropt
