#include "iropt/ir/substitute.h"

#include <algorithm>

#include "context_impl.h"
#include "iropt/ir/map_list.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// Up to this size a linear search is faster than hashing.
constexpr size_t kEntriesWithoutIndex = 12;

class SymVarSubstitution final : public TypeMapper {
 public:
  SymVarSubstitution(const SymVarMap& map, Arena* arena) : TypeMapper(arena), map_(map) {}

 protected:
  const PrimExpr* MapSymVar(const tir::Var* var) override {
    const PrimExpr* value = map_.Find(var);
    return value ? value : var;
  }

 private:
  const SymVarMap& map_;
};

}  // namespace

const PrimExpr* TypeMapper::Map(const PrimExpr* expr) {
  if (expr == nullptr || (expr->interned() && !expr->has_sym_var())) return expr;
  if (!expr->interned()) return MapFuncExpr(expr);
  if (const auto* var = As<tir::Var>(expr)) return MapSymVar(var);
  return static_cast<const PrimExpr*>(Remember(expr));
}

const Type* TypeMapper::Map(const Type* type) {
  if (type == nullptr || (type->flags == 0 && !maps_devices_)) return type;
  return static_cast<const Type*>(Remember(type));
}

const Attr* TypeMapper::Map(const Attr* attr) {
  if (attr == nullptr || (attr->flags == 0 && !maps_devices_)) return attr;
  if (maps_devices_ && attr->kind == NodeKind::kVDeviceAttr) return MapVDevice(static_cast<const VDeviceAttr*>(attr));
  return static_cast<const Attr*>(Remember(attr));
}

const Node* TypeMapper::Remember(const Node* node) {
  if (const auto found = memo_.find(node); found != memo_.end()) return found->second;
  const Node* mapped = WithStack([&] {
    switch (GroupOf(node->kind)) {
      case NodeGroup::kType: return DispatchIn<NodeGroup::kType>(node, [this](const auto* n) { return MapFields(n); });
      case NodeGroup::kAttr: return DispatchIn<NodeGroup::kAttr>(node, [this](const auto* n) { return MapFields(n); });
      default: return DispatchIn<NodeGroup::kPrim>(node, [this](const auto* n) { return MapFields(n); });
    }
  });
  memo_.emplace(node, mapped);
  return mapped;
}

template <class X>
const Node* TypeMapper::MapFields(const X* node) {
  X copy = *node;
  bool changed = false;
  X::Fields()([&](auto... field) { (MapField(copy.*(field.member), changed), ...); });
  if (!changed) return node;
  IRContext& context = IRContext::Current();
  if constexpr (std::is_base_of_v<Type, X>) {
    return context.impl().MakeType(copy, arena_);
  } else if constexpr (std::is_base_of_v<Attr, X>) {
    return context.impl().MakeAttr(copy);
  } else {
    copy.flags = 0;
    return context.Intern(&copy);
  }
}

template <class T>
void TypeMapper::MapField(T& value, bool& changed) {
  if constexpr (node_hashing::IsList<T>::value) {
    using Item = std::remove_cvref_t<decltype(value[0])>;
    if constexpr (std::is_convertible_v<Item, const Node*>) {
      const T old = value;
      value = MapList(old, scratch_, [this](Item item) { return static_cast<Item>(MapChild(item)); });
      changed |= !IsSameList(value, old);
    }
  } else if constexpr (std::is_convertible_v<T, const Node*>) {
    const Node* mapped = MapChild(value);
    changed |= mapped != value;
    value = static_cast<T>(mapped);
  }
}

const Node* TypeMapper::MapChild(const Node* child) {
  if (child == nullptr) return nullptr;
  switch (GroupOf(child->kind)) {
    case NodeGroup::kType: return Map(static_cast<const Type*>(child));
    case NodeGroup::kAttr: return Map(static_cast<const Attr*>(child));
    case NodeGroup::kPrim: return Map(static_cast<const PrimExpr*>(child));
    default: break;
  }
  // Besides the shape of a tensor type, the callee of an intrinsic is the only Relax node here.
  return Is<Var>(child) ? MapShapeVar(static_cast<const Expr*>(child)) : child;
}

void SymVarMap::Set(const tir::Var* var, const PrimExpr* value) {
  IROPT_CHECK(value->interned(), "the value of a symbolic variable is not interned");
  const auto at =
      index_.empty()
          ? std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first == var; })
          : (index_.contains(var) ? entries_.begin() + static_cast<ptrdiff_t>(index_.at(var)) : entries_.end());
  if (at != entries_.end()) {
    at->second = value;
    return;
  }
  entries_.emplace_back(var, value);
  if (entries_.size() <= kEntriesWithoutIndex) return;
  for (size_t i = index_.size(); i < entries_.size(); ++i) index_.emplace(entries_[i].first, i);
}

const PrimExpr* SymVarMap::Find(const tir::Var* var) const {
  if (!index_.empty()) {
    const auto found = index_.find(var);
    return found == index_.end() ? nullptr : entries_[found->second].second;
  }
  for (const auto& [key, value] : entries_) {
    if (key == var) return value;
  }
  return nullptr;
}

const Type* MapShapeVars(const Type* type, Arena& arena, FunctionRef<const Expr*(const Expr*)> f) {
  class Mapper : public TypeMapper {
   public:
    Mapper(Arena& arena, FunctionRef<const Expr*(const Expr*)> map) : TypeMapper(&arena), map_(map) {}

   protected:
    const Expr* MapShapeVar(const Expr* var) override { return map_(var); }

   private:
    FunctionRef<const Expr*(const Expr*)> map_;
  };
  return type->has_shape_var() ? Mapper(arena, f).Map(type) : type;
}

const PrimExpr* SubstituteSymVars(const PrimExpr* expr, const SymVarMap& map) {
  if (map.empty()) return expr;
  return SymVarSubstitution(map, nullptr).Map(expr);
}

const Type* SubstituteSymVars(const Type* type, const SymVarMap& map, Arena* arena) {
  if (map.empty() || type == nullptr || !type->has_sym_var()) return type;
  return SymVarSubstitution(map, arena).Map(type);
}

const Attr* SubstituteSymVars(const Attr* attr, const SymVarMap& map) {
  if (map.empty() || attr == nullptr || attr->flags == 0) return attr;
  return SymVarSubstitution(map, nullptr).Map(attr);
}

}  // namespace iropt
