// Types of Relax expressions (TVM 0.18 calls them struct info, TVM 0.26 types).
//
// Types are interned in the current IRContext: equal types are the same pointer, so comparison is a pointer comparison.
// The one exception: a tensor type whose shape is a Relax variable, R.Tensor(s), refers to a node of a function; it
// (and what contains it) lives in that function's arena, carries kHasShapeVar, and must be compared by TypeEqual.
//
// Dimensions inside types are interned scalar expressions: structurally equal dimensions are the same pointer. Their
// variables are symbolic variables (IRContext::NewSymVar), owned by the context.
#pragma once

#include "iropt/ir/node.h"

namespace iropt {

class Arena;
struct PrimExpr;
struct Expr;
struct VDeviceAttr;
struct DeviceMeshAttr;

struct Type : Node {
  enum Flags : uint8_t { kHasSymVar = 1, kHasShapeVar = 2 };
  uint32_t id = 0;  // dense per context, in order of creation; 0 for types outside the intern table
  // The number of types in the tree of this type: a shared type counts as often as it occurs. Saturates.
  uint32_t tree_size = 0;
  // Hash of the type; equal types have equal hashes, in every run. Does not depend on which symbolic variables occur.
  uint64_t content_hash = 0;

  bool has_sym_var() const { return flags & kHasSymVar; }
  bool has_shape_var() const { return flags & kHasShapeVar; }
  static constexpr bool ClassOf(NodeKind k) { return k >= NodeKind::kObjectType && k <= NodeKind::kFuncType; }

 protected:
  using Node::Node;
};

// Any value.
struct ObjectType : Type {
  IROPT_NODE_KIND(kObjectType)
  ObjectType() : Type(kKind) {}
  static const ObjectType* Get();
  // The type of expressions with a reported error. Expressions that use them have this type, too, so that one error
  // does not cause others. It does not occur outside of the reader.
  static const ObjectType* AfterError();
  // Returns whether the type, which may be null, is that one.
  static bool IsAfterError(const Type* type) { return type && type->kind == kKind && type == AfterError(); }
  static constexpr auto Fields() { return FieldList(); }
};

// A scalar on the host, with its value if that is known.
struct PrimType : Type {
  IROPT_NODE_KIND(kPrimType)
  DataType dtype;
  const PrimExpr* value = nullptr;
  PrimType(DataType t, const PrimExpr* v) : Type(kKind), dtype(t), value(v) {}
  static const PrimType* Get(DataType dtype);
  static const PrimType* Get(const PrimExpr* value);
  static constexpr auto Fields() { return FieldList(Use("dtype", &PrimType::dtype), Use("value", &PrimType::value)); }
};

inline constexpr int kUnknownDim = -1;

// A shape: its dimensions if known, else its rank (kUnknownDim if unknown).
struct ShapeType : Type {
  IROPT_NODE_KIND(kShapeType)
  int32_t ndim;
  bool known;  // values are known; an empty shape is known with no values
  List<const PrimExpr*> values;
  ShapeType(int32_t n, bool k, List<const PrimExpr*> v) : Type(kKind), ndim(n), known(k), values(v) {}
  static const ShapeType* Get(int ndim = kUnknownDim);
  static const ShapeType* Get(std::span<const PrimExpr* const> values);
  static constexpr auto Fields() {
    return FieldList(Use("ndim", &ShapeType::ndim), Use("known", &ShapeType::known), Use("values", &ShapeType::values));
  }
};

// A tensor. The shape is known (dims), given by a Relax variable (shape_var), or unknown (ndim, kUnknownDim if the rank
// is unknown, too). A void dtype is unknown.
struct TensorType : Type {
  IROPT_NODE_KIND(kTensorType)
  DataType dtype;
  int32_t ndim;
  bool known;  // dims are known
  List<const PrimExpr*> dims;
  const Expr* shape_var = nullptr;
  const VDeviceAttr* vdevice = nullptr;
  TensorType(DataType t, int32_t n, bool k, List<const PrimExpr*> d, const Expr* sv, const VDeviceAttr* vd)
      : Type(kKind), dtype(t), ndim(n), known(k), dims(d), shape_var(sv), vdevice(vd) {}
  static const TensorType* Get(std::span<const PrimExpr* const> dims, DataType dtype,
                               const VDeviceAttr* vdevice = nullptr);
  static const TensorType* Get(int ndim, DataType dtype, const VDeviceAttr* vdevice = nullptr);
  // R.Tensor(shape_var): allocated in `arena`, which must hold the variable, too. The variable's type is a ShapeType.
  static const TensorType* WithShapeVar(Arena& arena, const Expr* shape_var, DataType dtype,
                                        const VDeviceAttr* vdevice = nullptr);
  // Of the same shape, with another dtype and on another device.
  const TensorType* With(Arena& arena, DataType new_dtype, const VDeviceAttr* new_vdevice) const {
    if (shape_var) return WithShapeVar(arena, shape_var, new_dtype, new_vdevice);
    return known ? Get(dims.span(), new_dtype, new_vdevice) : Get(ndim, new_dtype, new_vdevice);
  }
  bool has_shape() const { return known || shape_var != nullptr; }
  static constexpr auto Fields() {
    return FieldList(Use("dtype", &TensorType::dtype), Use("ndim", &TensorType::ndim), Use("known", &TensorType::known),
                     Use("dims", &TensorType::dims), Use("shape_var", &TensorType::shape_var),
                     Use("vdevice", &TensorType::vdevice));
  }
};

// A tensor distributed over a device mesh, R.DTensor.
struct DTensorType : Type {
  IROPT_NODE_KIND(kDTensorType)
  const TensorType* tensor;
  const DeviceMeshAttr* device_mesh;
  std::string_view placement;  // as printed: "S[0]", "R", "S[0], R"
  DTensorType(const TensorType* t, const DeviceMeshAttr* m, std::string_view p)
      : Type(kKind), tensor(t), device_mesh(m), placement(p) {}
  static const DTensorType* Get(const TensorType* tensor, const DeviceMeshAttr* mesh, std::string_view placement);
  static constexpr auto Fields() {
    return FieldList(Use("tensor", &DTensorType::tensor), Use("device_mesh", &DTensorType::device_mesh),
                     Use("placement", &DTensorType::placement));
  }
};

// A tuple; with no fields it is the void type of calls that return nothing.
struct TupleType : Type {
  IROPT_NODE_KIND(kTupleType)
  List<const Type*> fields;
  explicit TupleType(List<const Type*> f) : Type(kKind), fields(f) {}
  static const TupleType* Get(std::span<const Type* const> fields);
  // For fields some of which carry kHasShapeVar: such a tuple is allocated in `arena`.
  static const TupleType* Get(Arena& arena, std::span<const Type* const> fields);
  static constexpr auto Fields() { return FieldList(Use("fields", &TupleType::fields)); }
};

// A function: parameters (unless opaque), result and purity. An opaque function whose result type a packed function
// derives names that function.
struct FuncType : Type {
  IROPT_NODE_KIND(kFuncType)
  bool opaque;  // any number and type of arguments
  bool purity;
  List<const Type*> params;
  const Type* ret;
  std::string_view derive_func;
  FuncType(bool o, bool p, List<const Type*> ps, const Type* r, std::string_view d)
      : Type(kKind), opaque(o), purity(p), params(ps), ret(r), derive_func(d) {}
  static const FuncType* Get(std::span<const Type* const> params, const Type* ret, bool purity = true);
  static const FuncType* Get(Arena& arena, std::span<const Type* const> params, const Type* ret, bool purity = true);
  static const FuncType* Opaque(const Type* ret, bool purity = false, std::string_view derive_func = {});
  static constexpr auto Fields() {
    return FieldList(Use("opaque", &FuncType::opaque), Use("purity", &FuncType::purity),
                     Use("params", &FuncType::params), Use("ret", &FuncType::ret),
                     Use("derive_func", &FuncType::derive_func));
  }
};

// Equality of any two types, null included. O(1) unless both contain a shape variable.
bool TypeEqual(const Type* a, const Type* b);

}  // namespace iropt
