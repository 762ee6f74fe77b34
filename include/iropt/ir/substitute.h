// Replacing variables in types, attributes and scalar expressions.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/ir/type.h"
#include "iropt/support/arena.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// Rebuilds interned nodes bottom-up: types, attributes, scalar expressions. Unchanged nodes stay the same pointers. A
// subclass maps the leaves. Results are cached for the life of the mapper, so the mapping of leaves must not change.
class TypeMapper {
 public:
  enum class Leaves : uint8_t {
    kVariables,  // nodes without any are skipped
    kDevices,    // variables and virtual devices
  };
  // The arena keeps new types that refer to a shape variable; null if none can occur.
  explicit TypeMapper(Arena* arena = nullptr, Leaves leaves = Leaves::kVariables)
      : arena_(arena), maps_devices_(leaves == Leaves::kDevices) {}
  virtual ~TypeMapper() = default;
  TypeMapper(const TypeMapper&) = delete;
  TypeMapper& operator=(const TypeMapper&) = delete;

  // Null stays null. The result of an interned expression is interned.
  const PrimExpr* Map(const PrimExpr* expr);
  const Type* Map(const Type* type);
  const Attr* Map(const Attr* attr);
  template <class X>
  requires(std::is_base_of_v<Type, X> || std::is_base_of_v<Attr, X>) const X* Map(const X* node) {
    // A type or attribute keeps its kind.
    if constexpr (std::is_base_of_v<Type, X>)
      return static_cast<const X*>(Map(static_cast<const Type*>(node)));
    else
      return static_cast<const X*>(Map(static_cast<const Attr*>(node)));
  }

 protected:
  // An interned expression, or the variable itself.
  virtual const PrimExpr* MapSymVar(const tir::Var* var) { return var; }
  // The Relax variable that gives the shape of a tensor type; null keeps only the rank.
  virtual const Expr* MapShapeVar(const Expr* var) { return var; }
  // The virtual device of a tensor type or a transfer, with Leaves::kDevices.
  virtual const VDeviceAttr* MapVDevice(const VDeviceAttr* device) { return device; }
  // An expression in an attribute that is a node of a function.
  virtual const PrimExpr* MapFuncExpr(const PrimExpr* expr) { return expr; }

 private:
  template <class X>
  const Node* MapFields(const X* node);
  template <class T>
  void MapField(T& value, bool& changed);
  const Node* MapChild(const Node* child);
  const Node* Remember(const Node* node);

  Arena* arena_;
  bool maps_devices_;
  Arena scratch_;  // lists of nodes that are about to be interned
  std::unordered_map<const Node*, const Node*> memo_;
};

// The values of symbolic variables. Values are interned.
class SymVarMap {
 public:
  void Set(const tir::Var* var, const PrimExpr* value);
  // Null if the variable has no value.
  const PrimExpr* Find(const tir::Var* var) const;
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  // In the order in which they were first set.
  const std::vector<std::pair<const tir::Var*, const PrimExpr*>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<const tir::Var*, const PrimExpr*>> entries_;
  std::unordered_map<const tir::Var*, size_t> index_;  // only once there are many
};

// The type with f(variable) for the Relax variables that give the shapes of tensors in it. Where `f` returns
// null, only the rank of the shape is kept.
const Type* MapShapeVars(const Type* type, Arena& arena, FunctionRef<const Expr*(const Expr*)> f);

// All at once: values are not substituted again. No simplification. The expression must be interned.
const PrimExpr* SubstituteSymVars(const PrimExpr* expr, const SymVarMap& map);
// The arena is needed for types with a shape variable.
const Type* SubstituteSymVars(const Type* type, const SymVarMap& map, Arena* arena = nullptr);
const Attr* SubstituteSymVars(const Attr* attr, const SymVarMap& map);

}  // namespace iropt
