// Shallow equality and hashing of nodes for interning. The children of a node are interned already, so it is compared
// and hashed by its own fields, children by address. Also a hash of the content, which does not depend on addresses,
// and a copy that owns the lists and texts that a lookup key only borrowed. One template over the field descriptions
// serves every kind.
#pragma once

#include <bit>
#include <concepts>

#include "iropt/ir/dispatch.h"
#include "iropt/support/arena.h"
#include "iropt/support/hash.h"

namespace iropt::node_hashing {

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<List<T>> : std::true_type {};

inline uint64_t HashValue(std::string_view text) { return HashString(text); }
inline uint64_t HashValue(DataType dtype) { return dtype.raw(); }
// By bits: -0.0 and 0.0 are two values, a NaN is equal to itself.
inline uint64_t HashValue(double value) { return std::bit_cast<uint64_t>(value); }
template <class T>
requires(std::integral<T> || std::is_enum_v<T>) uint64_t HashValue(T value) { return static_cast<uint64_t>(value); }
template <class T>
uint64_t HashValue(const T* address) {
  return reinterpret_cast<uintptr_t>(address);
}

inline bool EqualValues(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }
template <class T>
bool EqualValues(const T& a, const T& b) {
  return a == b;
}

template <class X>
uint64_t Hash(const X& node) {
  uint64_t hash = static_cast<uint64_t>(node.kind);
  ForEachField(&node, [&](auto, const auto& value) {
    if constexpr (IsList<std::remove_cvref_t<decltype(value)>>::value) {
      hash = HashCombine(hash, value.size());
      for (const auto& item : value) hash = HashCombine(hash, HashValue(item));
    } else {
      hash = HashCombine(hash, HashValue(value));
    }
  });
  return HashMix(hash);
}

template <class X>
bool Equal(const X& a, const X& b) {
  return a.kind == b.kind && FieldsEqual(a, b, [](auto, const auto& x, const auto& y) { return EqualValues(x, y); });
}

// ---- Hash of the content: the same in every run, independent of addresses.
inline uint64_t ContentOf(const Type* type) { return type ? type->content_hash : 0; }
inline uint64_t ContentOf(const Attr* attr) { return attr ? attr->content_hash : 0; }
inline uint64_t ContentOf(const PrimExpr* expr) {
  if (expr == nullptr) return 0;
  // The identity of a variable does not count; nor do the fields of an expression that a function owns.
  if (Is<tir::Var>(expr)) return HashCombine(static_cast<uint64_t>(expr->kind), expr->dtype.raw());
  return expr->interned() ? HashMix(expr->id) : static_cast<uint64_t>(expr->kind);
}
// The callee of an intrinsic: an operator or a function name.
inline uint64_t ContentOf(const Expr* expr) {
  if (const auto* op = As<Op>(expr)) return HashString(op->name);
  if (const auto* global = As<GlobalVar>(expr)) return HashString(global->name);
  return expr != nullptr;
}
inline uint64_t ContentOf(const tir::PointerInfo* pointer) {
  return pointer ? HashCombine(HashString(pointer->scope), pointer->elem.raw()) : 0;
}
template <class T>
requires(!std::is_pointer_v<T>) uint64_t ContentOf(const T& value) { return HashValue(value); }

template <class X>
uint64_t ContentHash(const X& node) {
  uint64_t hash = static_cast<uint64_t>(node.kind);
  ForEachField(&node, [&](auto field, const auto& value) {
    if (field.role == FieldRole::kIgnored) return;
    if constexpr (IsList<std::remove_cvref_t<decltype(value)>>::value) {
      hash = HashCombine(hash, value.size());
      for (const auto& item : value) hash = HashCombine(hash, ContentOf(item));
    } else {
      hash = HashCombine(hash, ContentOf(value));
    }
  });
  return hash;
}

// ---- Owning copies. `own_text` turns borrowed text into text that lives long enough.
template <class X, class OwnText>
void OwnFields(X* node, Arena& arena, OwnText&& own_text) {
  const auto own = [&]<class T>(T& value) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      value = own_text(value);
    } else if constexpr (std::is_same_v<T, List<std::string_view>>) {
      const std::span<std::string_view> copy = arena.Copy(value.span());
      for (std::string_view& text : copy) text = own_text(text);
      value = List<std::string_view>(copy);
    } else if constexpr (IsList<T>::value) {
      value = T(arena.Copy(value.span()));
    }
  };
  X::Fields()([&](auto... field) { (own(node->*(field.member)), ...); });
}

}  // namespace iropt::node_hashing
