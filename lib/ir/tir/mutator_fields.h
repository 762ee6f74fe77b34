// The rewriting of the fields of a node by TIR mutators. Private to lib/ir.
#pragma once

#include "iropt/ir/relax/rebuild.h"
#include "iropt/ir/relax/visitor.h"
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

// Replaces the items of a list by visit(item), which changes its argument; true if one changed.
template <class T, class Visit>
bool VisitList(List<T>& list, Workspace& workspace, Visit&& visit) {
  const List<T> old = list;
  list = MapList(old, workspace, [&](T item) {
    visit(item);
    return item;
  });
  return !IsSameList(list, old);
}

// The buffer with visit(expr) for each of its expressions, under a new id; the same one if nothing changes.
template <class Visit>
const Buffer* RewriteBufferFields(const Buffer* buffer, Workspace& workspace, Visit&& visit) {
  Buffer copy = *buffer;
  const auto replace = [&](const PrimExpr*& expr) {
    const PrimExpr* old = expr;
    if (expr != nullptr) expr = visit(expr);
    return expr != old;
  };
  copy.data = To<Var>(visit(buffer->data));
  bool changed = copy.data != buffer->data;
  changed |= VisitList(copy.shape, workspace, replace);
  changed |= VisitList(copy.strides, workspace, replace);
  changed |= replace(copy.elem_offset);
  changed |= replace(copy.layout);
  changed |= VisitList(copy.allocated_addr, workspace, replace);
  if (!changed) return buffer;
  copy.id = workspace.NextVarId();
  return workspace.New<Buffer>(copy);
}

template <class T>
bool ExprMutator::VisitField(FieldRole role, T& value) {
  if constexpr (visit_detail::IsList<T>::value) {
    return VisitList(value, workspace_, [&](auto& item) { return this->VisitField(role, item); });
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
