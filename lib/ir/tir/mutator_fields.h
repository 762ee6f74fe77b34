// The rewriting of the fields of a node by TIR mutators. Private to lib/ir.
#pragma once

#include "iropt/ir/map_list.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/mutator.h"

namespace iropt::tir {

// The dtype of some expressions is that of their operands.
template <class X>
void UpdateDType(X& node) {
  if constexpr (std::is_base_of_v<BinaryExpr, X>) {
    node.dtype = BinaryExpr(node.kind, node.a, node.b).dtype;
  } else if constexpr (std::is_same_v<X, Select>) {
    node.dtype = node.true_value->dtype;
  } else if constexpr (std::is_same_v<X, Let>) {
    node.dtype = node.body->dtype;
  }
}

// The buffer with visit(expr) for each of its expressions, under a new id; the same one if nothing changes.
template <class Visit>
const Buffer* RewriteBufferFields(const Buffer* buffer, Workspace& workspace, Visit&& visit) {
  const auto map = [&](const PrimExpr* expr) -> const PrimExpr* { return expr ? visit(expr) : nullptr; };
  const Var* data = To<Var>(visit(buffer->data));
  const List<const PrimExpr*> shape = MapList(buffer->shape, workspace, map);
  const List<const PrimExpr*> strides = MapList(buffer->strides, workspace, map);
  const PrimExpr* elem_offset = map(buffer->elem_offset);
  const PrimExpr* layout = map(buffer->layout);
  const List<const PrimExpr*> allocated_addr = MapList(buffer->allocated_addr, workspace, map);
  if (data == buffer->data && IsSameList(shape, buffer->shape) && IsSameList(strides, buffer->strides) &&
      elem_offset == buffer->elem_offset && layout == buffer->layout &&
      IsSameList(allocated_addr, buffer->allocated_addr))
    return buffer;
  Buffer copy = *buffer;
  copy.data = data;
  copy.shape = shape;
  copy.strides = strides;
  copy.elem_offset = elem_offset;
  copy.layout = layout;
  copy.allocated_addr = allocated_addr;
  copy.id = workspace.NextVarId();
  return workspace.New<Buffer>(copy);
}

template <class T>
bool ExprMutator::VisitField(FieldRole role, T& value) {
  if constexpr (visit_detail::IsList<T>::value) {
    const T old = value;
    value = MapList(old, workspace_, [&](auto item) {
      VisitField(role, item);
      return item;
    });
    return !IsSameList(value, old);
  } else {
    [[maybe_unused]] const T old = value;
    if constexpr (std::is_same_v<T, const Var*>) {
      // A use in such a field must stay a variable (the data of a buffer).
      value = role == FieldRole::kDef ? VisitVarDef(value) : To<Var>(VisitExpr(value));
    } else if constexpr (std::is_convertible_v<T, const PrimExpr*>) {
      if (value != nullptr) value = VisitExpr(value);
    } else if constexpr (std::is_same_v<T, const Buffer*>) {
      value = VisitBufferUse(value);
    } else if constexpr (std::is_same_v<T, const IterVar*>) {
      if (value != nullptr) value = VisitIterVar(value);
    } else if constexpr (std::is_same_v<T, const Range*>) {
      if (value != nullptr) value = VisitRange(value);
    } else if constexpr (std::is_same_v<T, const CommReducer*>) {
      value = VisitCommReducer(value);
    } else if constexpr (std::is_same_v<T, const DataProducer*>) {
      value = VisitDataProducer(value);
    } else {
      // The callee of a call is an operator or the name of a function.
      static_assert(!visit_detail::kIsChild<T> || std::is_same_v<T, const Expr*>, "a field that mutators do not know");
      return false;
    }
    return value != old;
  }
}

template <class X>
const X* ExprMutator::VisitFields(const X* node) {
  X copy = *node;
  bool changed = false;
  X::Fields()([&](auto... field) { ((changed |= VisitField(field.role, copy.*(field.member))), ...); });
  if (!changed) return node;
  if constexpr (std::is_base_of_v<PrimExpr, X>) copy.flags = 0;  // not interned
  UpdateDType(copy);
  return workspace_.New<X>(copy);
}

}  // namespace iropt::tir
