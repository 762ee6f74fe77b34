// Shared parts of structural comparison, hashing and copying. Private to lib/ir.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "iropt/ir/dispatch.h"

namespace iropt::structural {

// Values by id, for ids that are dense in some ranges: pages are allocated on demand.
template <class T>
class IdTable {
 public:
  // The value of the id, a default one at first.
  T& operator[](uint32_t id) {
    const size_t page = id / kPageSize;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
    return (*pages_[page])[id % kPageSize];
  }
  // Null if the page of the id was never allocated.
  const T* Find(uint32_t id) const {
    const size_t page = id / kPageSize;
    return page < pages_.size() && pages_[page] ? &(*pages_[page])[id % kPageSize] : nullptr;
  }

 private:
  static constexpr size_t kPageSize = 128;
  using Page = std::array<T, kPageSize>;
  std::vector<std::unique_ptr<Page>> pages_;
};

// Values by variable or buffer. A function numbers its own variables and buffers, the context its symbolic variables.
template <class T>
class VarTable {
 public:
  T& operator[](const Var* var) { return func_[var->id]; }
  T& operator[](const tir::Var* var) { return var->context_owned() ? context_[var->id] : func_[var->id]; }
  T& operator[](const tir::Buffer* buffer) { return func_[buffer->id]; }
  const T* Find(const Var* var) const { return func_.Find(var->id); }
  const T* Find(const tir::Var* var) const {
    return var->context_owned() ? context_.Find(var->id) : func_.Find(var->id);
  }
  const T* Find(const tir::Buffer* buffer) const { return func_.Find(buffer->id); }

 private:
  IdTable<T> func_;
  IdTable<T> context_;
};

// TVM's default scope of pointers has two names.
inline std::string_view ComparedScope(const tir::PointerInfo& pointer) {
  return pointer.scope.empty() ? std::string_view("global") : pointer.scope;
}

inline bool SamePointer(const tir::PointerInfo& a, const tir::PointerInfo& b) {
  return a.elem == b.elem && a.nested == b.nested && ComparedScope(a) == ComparedScope(b);
}

// The treatment of the nodes that a field refers to.
enum class Mode : uint8_t {
  kUse,     // refers to what was introduced
  kDefine,  // introduces variables, new ones even if the same nodes were introduced before
  kParam,   // introduces parameters, whose types introduce symbolic variables
  kFirst,   // introduces variables unless they are there already
};

// The mode for a field of a node of type X that is itself visited in `mode`.
template <class X>
constexpr Mode FieldMode(FieldRole role, Mode mode) {
  const bool passes_on = std::is_base_of_v<Type, X> || std::is_base_of_v<PrimExpr, X> || std::is_base_of_v<Var, X>;
  if (passes_on && role != FieldRole::kDef) return mode == Mode::kUse ? Mode::kUse : Mode::kFirst;
  if (role != FieldRole::kDef) return Mode::kUse;
  if (std::is_same_v<X, Function>) return Mode::kParam;
  // The variables of a buffer and of attribute statements may have been introduced before.
  if (std::is_same_v<X, tir::Buffer>) return mode == Mode::kUse ? Mode::kUse : Mode::kFirst;
  if (std::is_same_v<X, tir::AttrStmt>) return Mode::kFirst;
  if (std::is_same_v<X, tir::IterVar> && mode == Mode::kFirst) return Mode::kFirst;
  return Mode::kDefine;
}

// The declared types of variables and functions count; those of other expressions follow from the operands.
template <class X>
constexpr bool kTypeCounts = std::is_base_of_v<Var, X> || std::is_base_of_v<BaseFunc, X>;

// Kinds of nodes that can have many parents, whose results are cached.
inline bool IsSharable(const Node* node) {
  const NodeGroup group = GroupOf(node->kind);
  return group == NodeGroup::kExpr || group == NodeGroup::kPrim || group == NodeGroup::kType;
}

// The number of steps within one expression without caching; most expressions need no more.
inline constexpr int kStepsWithoutMemo = 512;

}  // namespace iropt::structural
