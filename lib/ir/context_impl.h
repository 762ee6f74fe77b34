// The tables of a context. Private to lib/ir.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>

#include "intern_table.h"
#include "iropt/ir/context.h"
#include "node_hashing.h"

namespace iropt {

class IRContext::Impl {
 public:
  Impl();

  // The canonical node equal to `key`, whose children are canonical. The key may borrow its lists and texts.
  template <class X>
  const X* Make(const X& key) {
    const uint64_t hash = node_hashing::Hash(key);
    const auto equal = [&](const void* entry) {
      const auto* node = static_cast<const Node*>(entry);
      return node->kind == key.kind && node_hashing::Equal(*static_cast<const X*>(node), key);
    };
    return static_cast<const X*>(nodes_.FindOrMake(hash, equal, [&](Arena& arena) { return New(key, arena); }));
  }

  // An attribute, which is interned unless it refers to nodes of a function.
  template <class X>
  const X* MakeAttr(const X& key) {
    const uint8_t flags = AttrFlags(key);
    if ((flags & Attr::kFuncOwned) == 0) return Make(key);
    const std::scoped_lock lock(unshared_mutex_);
    return New(key, unshared_arena_);
  }

  // A type; if it refers to a variable of a function, a copy in `arena`, which owns it.
  template <class X>
  const X* MakeType(const X& key, Arena* arena = nullptr) {
    if ((TypeFlags(key) & Type::kHasShapeVar) == 0) return Make(key);
    IROPT_CHECK(arena != nullptr, "a type with a shape variable needs an arena");
    X* type = arena->New<X>(key);
    node_hashing::OwnFields(type, *arena, [&](std::string_view text) { return arena->CopyString(text); });
    SetDerived(type);
    return type;
  }

  std::string_view InternString(std::string_view text);
  const tir::PointerInfo* MakePointerInfo(const tir::PointerInfo& key);
  const GlobalVar* FindGlobalVar(std::string_view name);
  const tir::Var* NewSymVar(std::string_view name, DataType dtype, bool is_size_var, uint8_t flags = 0);
  const tir::Var* IndexMapParam(size_t position, DataType dtype);
  uint32_t num_sym_vars() const { return next_sym_var_id_.load(std::memory_order_relaxed); }

  const tir::IntImm* Int(int64_t value, DataType dtype) {
    if (value >= kFirstSmall && value < kFirstSmall + kNumSmall) {
      if (dtype == DataType::Int(64)) return &small_ints_[0][value - kFirstSmall];
      if (dtype == DataType::Int(32)) return &small_ints_[1][value - kFirstSmall];
    }
    return Make(tir::IntImm(dtype, value));
  }

 private:
  static constexpr int64_t kFirstSmall = -128;
  static constexpr int64_t kNumSmall = 1152;

  template <class X>
  static uint8_t TypeFlags(const X& type) {
    uint8_t flags = 0;
    ForEachChildOf(type, [&](const auto* child) { flags |= TypeFlagsOf(child); });
    return flags;
  }
  template <class X>
  static uint32_t TreeSize(const X& type) {
    uint64_t size = 1;
    ForEachChildOf(type, [&]<class Child>(const Child* child) {
      if constexpr (std::is_base_of_v<Type, Child>) size += child->tree_size;
    });
    return static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX));
  }
  template <class X>
  static uint8_t AttrFlags(const X& attr) {
    uint8_t flags = std::is_same_v<X, IndexMapAttr> ? Attr::kByStructure : 0;
    ForEachChildOf(attr, [&](const auto* child) { flags |= AttrFlagsOf(child); });
    return flags;
  }
  static uint8_t TypeFlagsOf(const PrimExpr* dim) { return dim->has_sym_var() ? Type::kHasSymVar : 0; }
  static uint8_t TypeFlagsOf(const Type* type) { return type->flags; }
  static uint8_t TypeFlagsOf(const Expr*) { return Type::kHasShapeVar; }
  static uint8_t TypeFlagsOf(const Attr*) { return 0; }
  static uint8_t AttrFlagsOf(const Attr* attr) { return attr->flags; }
  static uint8_t AttrFlagsOf(const PrimExpr* expr) {
    if (!expr->interned()) return Attr::kByStructure | Attr::kFuncOwned;
    return expr->has_sym_var() ? Attr::kByStructure : 0;
  }
  static uint8_t AttrFlagsOf(const Type* type) {
    if (type->has_shape_var()) return Attr::kByStructure | Attr::kFuncOwned;
    return type->has_sym_var() ? Attr::kByStructure : 0;
  }

  // f(child) for every node, not null, that a field or an element of a list points to.
  template <class X, class F>
  static void ForEachChildOf(const X& node, F&& f) {
    const auto visit = [&]<class T>(const T& value) {
      if constexpr (std::is_convertible_v<T, const Node*>) {
        if (value != nullptr) f(value);
      }
    };
    ForEachField(&node, [&](auto, const auto& value) {
      if constexpr (node_hashing::IsList<std::remove_cvref_t<decltype(value)>>::value) {
        for (const auto& item : value) visit(item);
      } else {
        visit(value);
      }
    });
  }

  // Sets the members that follow from the fields: flags, hashes and numbers.
  template <class X>
  void SetDerived(X* node) {
    node->set_span({});
    if constexpr (std::is_base_of_v<Type, X>) {
      node->flags = TypeFlags(*node);
      node->tree_size = TreeSize(*node);
      node->content_hash = node_hashing::ContentHash(*node);
    } else if constexpr (std::is_base_of_v<Attr, X>) {
      node->flags = AttrFlags(*node);
      node->content_hash = node_hashing::ContentHash(*node);
    } else if constexpr (std::is_base_of_v<PrimExpr, X>) {
      node->flags = PrimExpr::kInterned;
      const auto add_flags = [&](const auto* child) {
        if constexpr (std::is_base_of_v<PrimExpr, std::remove_cvref_t<decltype(*child)>>) {
          node->flags |= child->flags & PrimExpr::kHasSymVar;
        }
      };
      ForEachChildOf(*node, add_flags);
      node->id = static_cast<uint32_t>(node_hashing::ContentHash(*node));
    }
  }

  template <class X>
  const X* New(const X& key, Arena& arena) {
    X* node = arena.New<X>(key);
    node_hashing::OwnFields(node, arena, [this](std::string_view text) { return InternString(text); });
    SetDerived(node);
    if constexpr (std::is_base_of_v<Type, X>) node->id = next_type_id_.fetch_add(1, std::memory_order_relaxed);
    if constexpr (std::is_same_v<GlobalVar, X>) node->id = next_global_var_id_.fetch_add(1, std::memory_order_relaxed);
    return node;
  }

  InternTable nodes_;
  InternTable strings_;
  InternTable pointers_;
  std::atomic<uint32_t> next_type_id_ = 1;
  std::atomic<uint32_t> next_global_var_id_ = 0;
  std::atomic<uint32_t> next_sym_var_id_ = 0;

  std::mutex unshared_mutex_;
  Arena unshared_arena_;  // symbolic variables, attributes that are not interned
  std::mutex index_map_mutex_;
  std::vector<const tir::Var*> index_map_params_;

  // The integers that are common in shapes, without a table lookup: int64 and int32.
  std::array<tir::IntImm*, 2> small_ints_{};
};

// The tables of the current context.
inline IRContext::Impl& Context() { return IRContext::Current().impl(); }

}  // namespace iropt
