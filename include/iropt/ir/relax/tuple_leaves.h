// Tuples of tuples as trees: the leaves of a type or an operand, in order, and trees of the same form made of them.
// The functions are O(leaves), at any depth.
//
// Several take a companion, a tree parallel to the tuple with a fact about each leaf: any object with a function
// Field(uint32_t) that returns the companion of a field. TVM's NestedMsg serves the same purpose.
#pragma once

#include <type_traits>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/relax/rebuild.h"
#include "iropt/support/stack.h"

namespace iropt {

// ---- Types. A leaf is a type other than a tuple.

// Calls f(const Type*) for each leaf.
template <class F>
void ForEachLeaf(const Type* type, F&& f) {
  const auto* tuple = As<TupleType>(type);
  if (!tuple) return f(type);
  WithStack([&] {
    for (const Type* field : tuple->fields) ForEachLeaf(field, f);
  });
}

template <class F>
bool AllLeaves(const Type* type, F&& f) {
  const auto* tuple = As<TupleType>(type);
  if (!tuple) return f(type);
  return WithStack([&] {
    for (const Type* field : tuple->fields) {
      if (!AllLeaves(field, f)) return false;
    }
    return true;
  });
}

// Calls f(leaf, other) for each leaf of the type and the part of another type at the same position. Skips parts where
// one is a tuple and the other is not, or has another number of fields.
template <class F>
void ForEachLeafPair(const Type* type, const Type* other, F&& f) {
  const auto* tuple = As<TupleType>(type);
  const auto* other_tuple = As<TupleType>(other);
  if (!tuple && !other_tuple) return f(type, other);
  if (!tuple || !other_tuple || tuple->fields.size() != other_tuple->fields.size()) return;
  WithStack([&] {
    for (uint32_t i = 0; i < tuple->fields.size(); ++i) ForEachLeafPair(tuple->fields[i], other_tuple->fields[i], f);
  });
}

// Returns whether the type has a field wherever the pattern has one.
bool HasFieldsOf(const Type* type, const Type* pattern);

// The type with f(leaf, companion) for each leaf; null if f gives null.
template <class Companion, class F>
const Type* MapLeaves(const Type* type, const Companion& companion, Arena& arena, F&& f) {
  const auto* tuple = As<TupleType>(type);
  if (!tuple) return f(type, companion);
  return WithStack([&]() -> const Type* {
    std::vector<const Type*> fields;
    for (uint32_t i = 0; i < tuple->fields.size(); ++i) {
      fields.push_back(MapLeaves(tuple->fields[i], companion.Field(i), arena, f));
      if (!fields.back()) return nullptr;
    }
    return TupleType::Get(arena, fields);
  });
}

// ---- Operands. A leaf is an operand other than a Tuple node.

// Calls f(const Expr*) for each leaf.
template <class F>
void ForEachLeaf(const Expr* operand, F&& f) {
  const auto* tuple = As<Tuple>(operand);
  if (!tuple) return f(operand);
  WithStack([&] {
    for (const Expr* field : tuple->fields) ForEachLeaf(field, f);
  });
}

// Calls f(leaf, companion) for each leaf.
template <class Companion, class F>
void ForEachLeaf(const Expr* operand, const Companion& companion, F&& f) {
  const auto* tuple = As<Tuple>(operand);
  if (!tuple) return f(operand, companion);
  WithStack([&] {
    for (uint32_t i = 0; i < tuple->fields.size(); ++i) ForEachLeaf(tuple->fields[i], companion.Field(i), f);
  });
}

template <class F>
bool AnyLeaf(const Expr* operand, F&& f) {
  const auto* tuple = As<Tuple>(operand);
  if (!tuple) return f(operand);
  return WithStack([&] {
    for (const Expr* field : tuple->fields) {
      if (AnyLeaf(field, f)) return true;
    }
    return false;
  });
}

// The operand with f(leaf) for each leaf; the same pointer if nothing changes.
template <class F>
const Expr* MapLeaves(const Expr* operand, Rebuilder& rebuilder, F&& f) {
  const auto* tuple = As<Tuple>(operand);
  if (!tuple) return f(operand);
  return WithStack([&]() -> const Expr* {
    const auto map = [&](const Expr* field) { return MapLeaves(field, rebuilder, f); };
    return rebuilder.Rebuild(*tuple, MapList(tuple->fields, rebuilder.workspace(), map));
  });
}

// leaf(operand) for a leaf; for a tuple, combine(std::vector) of the results for its fields.
template <class Leaf, class Combine>
auto FoldLeaves(const Expr* operand, Leaf&& leaf, Combine&& combine) -> std::invoke_result_t<Leaf&, const Expr*> {
  using R = std::invoke_result_t<Leaf&, const Expr*>;
  const auto* tuple = As<Tuple>(operand);
  if (!tuple) return leaf(operand);
  return WithStack([&]() -> R {
    std::vector<R> fields;
    for (const Expr* field : tuple->fields) fields.push_back(FoldLeaves(field, leaf, combine));
    return combine(fields);
  });
}

// ---- Values of tuple types, Tuple nodes or not

// The field of a Tuple node, else a projection. The value has a tuple type.
const Expr* TupleItem(const Expr* value, uint32_t index, Workspace& workspace);

// Calls f(const Expr*) for each part of the value where the type `structure` has a leaf. The type of the value has the
// fields of `structure`.
template <class F>
void ForEachItem(const Expr* value, const Type* structure, Workspace& workspace, F&& f) {
  const auto* tuple = As<TupleType>(structure);
  if (!tuple) return f(value);
  WithStack([&] {
    for (uint32_t i = 0; i < tuple->fields.size(); ++i) {
      ForEachItem(TupleItem(value, i, workspace), tuple->fields[i], workspace, f);
    }
  });
}

// The value with f(item, companion) for each item that is not a tuple; the same pointer if nothing changes. Tuples that
// change become Tuple nodes without a type: the result must be normalized. A Tuple node needs no type.
template <class Companion, class F>
const Expr* ConvertItems(const Expr* value, const Companion& companion, Workspace& workspace, F&& f) {
  const auto* tuple = As<Tuple>(value);
  const auto* type = As<TupleType>(value->type);
  if (!tuple && !type) return f(value, companion);
  return WithStack([&]() -> const Expr* {
    std::vector<const Expr*> fields;
    bool changed = false;
    const uint32_t size = tuple ? tuple->fields.size() : type->fields.size();
    for (uint32_t i = 0; i < size; ++i) {
      const Expr* item = TupleItem(value, i, workspace);
      fields.push_back(ConvertItems(item, companion.Field(i), workspace, f));
      changed |= fields.back() != item;
    }
    if (!changed) return value;
    return NewLike<Tuple>(workspace, *value, workspace.Copy(fields), nullptr);
  });
}

}  // namespace iropt
