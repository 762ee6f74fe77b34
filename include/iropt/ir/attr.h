// Attribute values: of functions, modules, calls, loop and block annotations. Interned in the current IRContext: equal
// values are the same pointer, except for those that carry kByStructure; AttrEqual compares any two.
#pragma once

#include "iropt/ir/node.h"

namespace iropt {

struct PrimExpr;
struct Type;
namespace tir {
struct Var;
}

struct Attr : Node {
  enum Flags : uint8_t {
    // Refers to variables, or has names that do not count: equal values may be several nodes.
    kByStructure = 1,
    // Refers to nodes of a function (a loop variable in an annotation), so it is only valid as long as these live. Such
    // values are not shared: each Get makes one.
    kFuncOwned = 2,
  };
  // Hash of the value; equal values have equal hashes, in every run.
  uint64_t content_hash = 0;

  bool by_structure() const { return flags & kByStructure; }
  bool func_owned() const { return flags & kFuncOwned; }
  static constexpr bool ClassOf(NodeKind k) { return k >= NodeKind::kNoneAttr && k <= NodeKind::kObjectAttr; }

 protected:
  using Node::Node;
};

struct NoneAttr : Attr {
  IROPT_NODE_KIND(kNoneAttr)
  NoneAttr() : Attr(kKind) {}
  static const NoneAttr* Get();
  static constexpr auto Fields() { return FieldList(); }
};

// Integers and booleans, by dtype (bool, int32, int64, ...).
struct IntAttr : Attr {
  IROPT_NODE_KIND(kIntAttr)
  DataType dtype;
  int64_t value;
  IntAttr(DataType t, int64_t v) : Attr(kKind), dtype(t), value(v) {}
  static const IntAttr* Get(int64_t value, DataType dtype = DataType::Int(64));
  static const IntAttr* Bool(bool value) { return Get(value, DataType::Bool()); }
  static constexpr auto Fields() { return FieldList(Use("dtype", &IntAttr::dtype), Use("value", &IntAttr::value)); }
};

struct FloatAttr : Attr {
  IROPT_NODE_KIND(kFloatAttr)
  DataType dtype;
  double value;
  FloatAttr(DataType t, double v) : Attr(kKind), dtype(t), value(v) {}
  static const FloatAttr* Get(double value, DataType dtype = DataType::Float(64));
  static constexpr auto Fields() { return FieldList(Use("dtype", &FloatAttr::dtype), Use("value", &FloatAttr::value)); }
};

struct StrAttr : Attr {
  IROPT_NODE_KIND(kStrAttr)
  std::string_view value;
  explicit StrAttr(std::string_view v) : Attr(kKind), value(v) {}
  static const StrAttr* Get(std::string_view value);
  static constexpr auto Fields() { return FieldList(Use("value", &StrAttr::value)); }
};

struct DTypeAttr : Attr {
  IROPT_NODE_KIND(kDTypeAttr)
  DataType value;
  explicit DTypeAttr(DataType v) : Attr(kKind), value(v) {}
  static const DTypeAttr* Get(DataType value);
  static constexpr auto Fields() { return FieldList(Use("value", &DTypeAttr::value)); }
};

struct ListAttr : Attr {
  IROPT_NODE_KIND(kListAttr)
  List<const Attr*> values;
  explicit ListAttr(List<const Attr*> v) : Attr(kKind), values(v) {}
  static const ListAttr* Get(std::span<const Attr* const> values);
  static constexpr auto Fields() { return FieldList(Use("values", &ListAttr::values)); }
};

// String keys to values, kept in the order of the keys' bytes (as TVM prints them); keys are unique.
struct DictAttr : Attr {
  IROPT_NODE_KIND(kDictAttr)
  List<std::string_view> keys;
  List<const Attr*> values;
  DictAttr(List<std::string_view> k, List<const Attr*> v) : Attr(kKind), keys(k), values(v) {}

  using Entry = std::pair<std::string_view, const Attr*>;
  // Sorts the entries; of two with the same key the later wins.
  static const DictAttr* Get(std::span<const Entry> entries);
  static const DictAttr* Empty() { return Get({}); }
  // Null if absent. O(log n).
  const Attr* Find(std::string_view key) const;
  const DictAttr* With(std::string_view key, const Attr* value) const;
  const DictAttr* Without(std::string_view key) const;
  uint32_t size() const { return keys.size(); }
  static constexpr auto Fields() { return FieldList(Use("keys", &DictAttr::keys), Use("values", &DictAttr::values)); }
};

// A scalar expression as an attribute (a symbolic bound, T.float32(1.5) in an annotation, ...).
struct ExprAttr : Attr {
  IROPT_NODE_KIND(kExprAttr)
  const PrimExpr* value;
  explicit ExprAttr(const PrimExpr* v) : Attr(kKind), value(v) {}
  // The expression is interned, or a node of the function that the attribute is for (kFuncOwned).
  static const ExprAttr* Get(const PrimExpr* value);
  static constexpr auto Fields() { return FieldList(Use("value", &ExprAttr::value)); }
};

struct TypeAttr : Attr {
  IROPT_NODE_KIND(kTypeAttr)
  const Type* value;
  explicit TypeAttr(const Type* v) : Attr(kKind), value(v) {}
  static const TypeAttr* Get(const Type* value);
  static constexpr auto Fields() { return FieldList(Use("value", &TypeAttr::value)); }
};

// T.target({...})
struct TargetAttr : Attr {
  IROPT_NODE_KIND(kTargetAttr)
  const DictAttr* config;
  explicit TargetAttr(const DictAttr* c) : Attr(kKind), config(c) {}
  static const TargetAttr* Get(const DictAttr* config);
  static constexpr auto Fields() { return FieldList(Use("config", &TargetAttr::config)); }
};

// I.vdevice(target, id, memory scope)
struct VDeviceAttr : Attr {
  IROPT_NODE_KIND(kVDeviceAttr)
  const DictAttr* target;  // null if none was given
  int64_t vdevice_id;
  std::string_view memory_scope;
  VDeviceAttr(const DictAttr* t, int64_t i, std::string_view s)
      : Attr(kKind), target(t), vdevice_id(i), memory_scope(s) {}
  static const VDeviceAttr* Get(const DictAttr* target, int64_t vdevice_id, std::string_view memory_scope);
  static constexpr auto Fields() {
    return FieldList(Use("target", &VDeviceAttr::target), Use("vdevice_id", &VDeviceAttr::vdevice_id),
                     Use("memory_scope", &VDeviceAttr::memory_scope));
  }
};

// R.device_mesh(shape, ids or I.Range(a, b))
struct DeviceMeshAttr : Attr {
  IROPT_NODE_KIND(kDeviceMeshAttr)
  List<int64_t> shape;
  List<int64_t> device_ids;  // as listed; if is_range, the two ends
  bool is_range;
  DeviceMeshAttr(List<int64_t> s, List<int64_t> d, bool r) : Attr(kKind), shape(s), device_ids(d), is_range(r) {}
  static const DeviceMeshAttr* Get(std::span<const int64_t> shape, std::span<const int64_t> device_ids, bool is_range);
  static constexpr auto Fields() {
    return FieldList(Use("shape", &DeviceMeshAttr::shape), Use("device_ids", &DeviceMeshAttr::device_ids),
                     Use("is_range", &DeviceMeshAttr::is_range));
  }
};

// T.index_map(lambda i, j: (j, i), inverse_index_map=...). The parameters are symbolic variables of the context,
// canonical by position and dtype: the results of equal maps are the same pointers. Maps that differ in parameter names
// only are two nodes, which are equal to AttrEqual.
struct IndexMapAttr : Attr {
  IROPT_NODE_KIND(kIndexMapAttr)
  List<const tir::Var*> params;
  List<const PrimExpr*> results;
  List<std::string_view> param_names;  // as written, for printing
  const IndexMapAttr* inverse;         // null if none was given
  IndexMapAttr(List<const tir::Var*> p, List<const PrimExpr*> r, List<std::string_view> n, const IndexMapAttr* i)
      : Attr(kKind), params(p), results(r), param_names(n), inverse(i) {}
  // Takes any context-owned parameters and replaces them by the canonical ones.
  static const IndexMapAttr* Get(std::span<const tir::Var* const> params, std::span<const PrimExpr* const> results,
                                 const IndexMapAttr* inverse = nullptr);
  static constexpr auto Fields() {
    return FieldList(Use("params", &IndexMapAttr::params), Use("results", &IndexMapAttr::results),
                     Ignored("param_names", &IndexMapAttr::param_names), Use("inverse", &IndexMapAttr::inverse));
  }
};

// Any other object that TVM stores as an attribute: its type key and its fields. The attribute record of an operator
// call is one, with the key of the record ("relax.attrs.MatmulAttrs") and the fields in printing order.
struct ObjectAttr : Attr {
  IROPT_NODE_KIND(kObjectAttr)
  std::string_view type_key;
  List<std::string_view> names;
  List<const Attr*> values;
  ObjectAttr(std::string_view k, List<std::string_view> n, List<const Attr*> v)
      : Attr(kKind), type_key(k), names(n), values(v) {}
  static const ObjectAttr* Get(std::string_view type_key, std::span<const std::string_view> names,
                               std::span<const Attr* const> values);
  // Null if there is no such field. O(fields).
  const Attr* Find(std::string_view name) const;
  // A copy with another value for the field of this index.
  const ObjectAttr* With(uint32_t field, const Attr* value) const;
  static constexpr auto Fields() {
    return FieldList(Use("type_key", &ObjectAttr::type_key), Use("names", &ObjectAttr::names),
                     Use("values", &ObjectAttr::values));
  }
};

// Equality of any two values, null included. O(1) unless both carry kByStructure.
bool AttrEqual(const Attr* a, const Attr* b);

}  // namespace iropt
