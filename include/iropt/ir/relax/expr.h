// Relax expressions, bindings and functions.
#pragma once

#include "iropt/ir/attr.h"
#include "iropt/ir/attr_keys.h"
#include "iropt/ir/node.h"
#include "iropt/ir/type.h"

namespace iropt {

class NDArray;
struct OpInfo;    // op/op.h: the row of the operator table
struct PrimFunc;  // ir/tir/stmt.h
namespace tir {
struct Buffer;
struct PointerInfo;
struct Stmt;
struct Var;
}  // namespace tir

// A Relax expression. The type is null until it is set or inferred.
struct Expr : Node {
  const Type* type = nullptr;
  static constexpr bool ClassOf(NodeKind k) { return k >= NodeKind::kConstant && k <= NodeKind::kPrimFunc; }

 protected:
  explicit constexpr Expr(NodeKind k, const Type* t = nullptr) : Node(k), type(t) {}
};

// A scalar expression of TIR; also the dimension of a shape. See ir/tir/expr.h.
struct PrimExpr : Node {
  enum PrimFlags : uint8_t {
    kInterned = 2,   // the canonical node of its value in the context
    kHasSymVar = 4,  // of an interned node: refers to a symbolic variable
  };
  DataType dtype;
  // For a variable: its number. For another interned node: a hash of its value that is the same in every run. Otherwise
  // unused.
  uint32_t id = 0;

  bool interned() const { return flags & kInterned; }
  bool has_sym_var() const { return flags & kHasSymVar; }
  static constexpr bool ClassOf(NodeKind k) { return k >= NodeKind::kPrimVar && k <= NodeKind::kReduce; }

 protected:
  PrimExpr(NodeKind k, DataType t) : Node(k), dtype(t) {}
};

// A tensor literal. The arena that holds the node keeps the array alive (Arena::Retain).
struct Constant : Expr {
  IROPT_NODE_KIND(kConstant)
  const NDArray* data;
  Constant(const NDArray* d, const Type* t) : Expr(kKind, t), data(d) {}
  static constexpr auto Fields() { return FieldList(TypeOf("type", &Constant::type), Use("data", &Constant::data)); }
};

// A variable. Identity is the pointer; `id` is dense within the top-level function that the variable lives in, nested
// functions included (FuncStorage::num_vars). The name is a hint: printing makes names unique.
struct Var : Expr {
  static constexpr NodeKind kKind = NodeKind::kVar;
  static constexpr bool ClassOf(NodeKind k) { return k == NodeKind::kVar || k == NodeKind::kDataflowVar; }
  const char* name_data;
  uint32_t name_size;
  uint32_t id;
  Var(std::string_view name, uint32_t var_id, const Type* t) : Var(kKind, name, var_id, t) {}
  std::string_view name() const { return {name_data, name_size}; }
  bool is_dataflow() const { return kind == NodeKind::kDataflowVar; }
  static constexpr auto Fields() { return FieldList(TypeOf("type", &Var::type)); }

 protected:
  Var(NodeKind k, std::string_view name, uint32_t var_id, const Type* t)
      : Expr(k, t), name_data(name.data()), name_size(static_cast<uint32_t>(name.size())), id(var_id) {}
};

// A variable that is visible only in the dataflow block that binds it.
struct DataflowVar : Var {
  IROPT_NODE_KIND(kDataflowVar)
  DataflowVar(std::string_view name, uint32_t var_id, const Type* t) : Var(kKind, name, var_id, t) {}
};

// The name of a function of the module. Interned by name in the context: equal names are the same pointer. Its type is
// that of the function that the module has under the name (Module::TypeOf).
struct GlobalVar : Expr {
  IROPT_NODE_KIND(kGlobalVar)
  std::string_view name;
  uint32_t id;  // dense per context
  GlobalVar(std::string_view n, uint32_t i) : Expr(kKind), name(n), id(i) {}
  static const GlobalVar* Get(std::string_view name);
  static constexpr auto Fields() { return FieldList(Use("name", &GlobalVar::name)); }
};

enum class OpId : uint16_t;  // op/op_id.h

// A primitive operator, "relax.add" or "tir.exp": one static node per name, made from the operator table.
struct Op : Expr {
  IROPT_NODE_KIND(kOp)
  OpId id;
  std::string_view name;
  const OpInfo* info;
  constexpr Op(OpId number, std::string_view n, const OpInfo* i) : Expr(kKind), id(number), name(n), info(i) {}
  static constexpr auto Fields() { return FieldList(Use("name", &Op::name)); }
};

struct Tuple : Expr {
  IROPT_NODE_KIND(kTuple)
  List<const Expr*> fields;
  Tuple(List<const Expr*> f, const Type* t) : Expr(kKind, t), fields(f) {}
  static constexpr auto Fields() { return FieldList(TypeOf("type", &Tuple::type), Use("fields", &Tuple::fields)); }
};

struct TupleGetItem : Expr {
  IROPT_NODE_KIND(kTupleGetItem)
  const Expr* tuple;
  int32_t index;
  TupleGetItem(const Expr* t, int32_t i, const Type* ty) : Expr(kKind, ty), tuple(t), index(i) {}
  static constexpr auto Fields() {
    return FieldList(TypeOf("type", &TupleGetItem::type), Use("tuple", &TupleGetItem::tuple),
                     Use("index", &TupleGetItem::index));
  }
};

struct Call : Expr {
  IROPT_NODE_KIND(kCall)
  const Expr* op;
  List<const Expr*> args;
  const Attr* attrs;           // attribute record of the operator, or null
  const TupleType* type_args;  // explicit result types (sinfo_args) as a tuple type, or null
  Call(const Expr* o, List<const Expr*> a, const Attr* at, const TupleType* ta, const Type* t)
      : Expr(kKind, t), op(o), args(a), attrs(at), type_args(ta) {}
  static constexpr auto Fields() {
    return FieldList(TypeOf("type", &Call::type), Use("op", &Call::op), Use("args", &Call::args),
                     Use("attrs", &Call::attrs), Use("type_args", &Call::type_args));
  }
};

// The type of the next three is derived from the value; they carry it from construction.
struct ShapeExpr : Expr {
  IROPT_NODE_KIND(kShapeExpr)
  List<const PrimExpr*> values;
  ShapeExpr(List<const PrimExpr*> v, const Type* t) : Expr(kKind, t), values(v) {}
  static constexpr auto Fields() {
    return FieldList(TypeOf("type", &ShapeExpr::type), Use("values", &ShapeExpr::values));
  }
};

struct PrimValue : Expr {
  IROPT_NODE_KIND(kPrimValue)
  const PrimExpr* value;
  PrimValue(const PrimExpr* v, const Type* t) : Expr(kKind, t), value(v) {}
  static constexpr auto Fields() {
    return FieldList(TypeOf("type", &PrimValue::type), Use("value", &PrimValue::value));
  }
};

struct StringImm : Expr {
  IROPT_NODE_KIND(kStringImm)
  std::string_view value;
  StringImm(std::string_view v, const Type* t) : Expr(kKind, t), value(v) {}
  static constexpr auto Fields() { return FieldList(Use("value", &StringImm::value)); }
};

struct DataTypeImm : Expr {
  IROPT_NODE_KIND(kDataTypeImm)
  DataType value;
  DataTypeImm(DataType v, const Type* t) : Expr(kKind, t), value(v) {}
  static constexpr auto Fields() { return FieldList(Use("value", &DataTypeImm::value)); }
};

// Returns whether an expression may be an operand in A-normal form (apart from tuples, which may if all their fields
// may).
constexpr bool IsLeaf(const Expr* expr) {
  switch (expr->kind) {
    case NodeKind::kConstant:
    case NodeKind::kVar:
    case NodeKind::kDataflowVar:
    case NodeKind::kGlobalVar:
    case NodeKind::kExternFunc:
    case NodeKind::kOp:
    case NodeKind::kShapeExpr:
    case NodeKind::kPrimValue:
    case NodeKind::kStringImm:
    case NodeKind::kDataTypeImm: return true;
    default: return false;
  }
}

// ---- Bindings

struct Binding : Node {
  const Var* var;
  static constexpr bool ClassOf(NodeKind k) { return k == NodeKind::kVarBinding || k == NodeKind::kMatchCast; }

 protected:
  Binding(NodeKind k, const Var* v) : Node(k), var(v) {}
};

struct VarBinding : Binding {
  IROPT_NODE_KIND(kVarBinding)
  const Expr* value;
  VarBinding(const Var* v, const Expr* e) : Binding(kKind, v), value(e) {}
  static constexpr auto Fields() { return FieldList(Use("value", &VarBinding::value), Def("var", &VarBinding::var)); }
};

// Checks at run time that the value has the type, and defines the symbolic variables that the type has and that are not
// in scope yet.
struct MatchCast : Binding {
  IROPT_NODE_KIND(kMatchCast)
  const Expr* value;
  const Type* match_type;
  MatchCast(const Var* v, const Expr* e, const Type* t) : Binding(kKind, v), value(e), match_type(t) {}
  static constexpr auto Fields() {
    return FieldList(Use("value", &MatchCast::value), Def("match_type", &MatchCast::match_type),
                     Def("var", &MatchCast::var));
  }
};

struct BindingBlock : Node {
  static constexpr NodeKind kKind = NodeKind::kBindingBlock;
  static constexpr bool ClassOf(NodeKind k) { return k == NodeKind::kBindingBlock || k == NodeKind::kDataflowBlock; }
  List<const Binding*> bindings;
  explicit BindingBlock(List<const Binding*> b) : BindingBlock(kKind, b) {}
  bool is_dataflow() const { return kind == NodeKind::kDataflowBlock; }
  static constexpr auto Fields() { return FieldList(Use("bindings", &BindingBlock::bindings)); }

 protected:
  BindingBlock(NodeKind k, List<const Binding*> b) : Node(k), bindings(b) {}
};

// A block without side effects and control flow. Its DataflowVars are local; its Vars are its outputs.
struct DataflowBlock : BindingBlock {
  IROPT_NODE_KIND(kDataflowBlock)
  explicit DataflowBlock(List<const Binding*> b) : BindingBlock(kKind, b) {}
};

struct SeqExpr : Expr {
  IROPT_NODE_KIND(kSeqExpr)
  // Made by the builder: everything below is in A-normal form and has types.
  enum Flags : uint8_t { kNormalized = 1 };
  List<const BindingBlock*> blocks;
  const Expr* body;
  SeqExpr(List<const BindingBlock*> b, const Expr* e, const Type* t) : Expr(kKind, t), blocks(b), body(e) {}
  static constexpr auto Fields() {
    return FieldList(TypeOf("type", &SeqExpr::type), Use("blocks", &SeqExpr::blocks), Use("body", &SeqExpr::body));
  }
};

// The branches are SeqExprs once normalized.
struct If : Expr {
  IROPT_NODE_KIND(kIf)
  const Expr* cond;
  const Expr* true_branch;
  const Expr* false_branch;
  If(const Expr* c, const Expr* t, const Expr* f, const Type* ty)
      : Expr(kKind, ty), cond(c), true_branch(t), false_branch(f) {}
  static constexpr auto Fields() {
    return FieldList(TypeOf("type", &If::type), Use("cond", &If::cond), Use("true_branch", &If::true_branch),
                     Use("false_branch", &If::false_branch));
  }
};

// The value of a binding; for a match_cast, the value that is cast.
inline const Expr* ValueOf(const Binding* binding) {
  if (binding->kind == NodeKind::kVarBinding) return static_cast<const VarBinding*>(binding)->value;
  return static_cast<const MatchCast*>(binding)->value;
}

// ---- Functions

// A function of a module: a Relax function, a PrimFunc or an external function.
struct BaseFunc : Expr {
  const DictAttr* attrs;  // never null
  static constexpr bool ClassOf(NodeKind k) {
    return k == NodeKind::kFunction || k == NodeKind::kPrimFunc || k == NodeKind::kExternFunc;
  }
  // The string attribute `key`, or "" if there is none.
  std::string_view StringAttr(std::string_view key) const;

 protected:
  BaseFunc(NodeKind k, const DictAttr* a, const Type* t) : Expr(k, t), attrs(a) {}
};

struct Function : BaseFunc {
  IROPT_NODE_KIND(kFunction)
  List<const Var*> params;
  const Expr* body;  // a SeqExpr once normalized
  const Type* ret_type;
  bool is_pure;
  Function(List<const Var*> p, const Expr* b, const Type* r, bool pure, const DictAttr* a, const Type* t)
      : BaseFunc(kKind, a, t), params(p), body(b), ret_type(r), is_pure(pure) {}
  static constexpr auto Fields() {
    return FieldList(Def("params", &Function::params), Use("is_pure", &Function::is_pure),
                     Use("attrs", &Function::attrs), TypeOf("ret_type", &Function::ret_type),
                     Use("body", &Function::body));
  }
};

// Returns whether fusion created the function from operators, so that other passes must not rewrite it.
inline bool IsPrimitive(const Function& function) {
  const auto* primitive = As<IntAttr>(function.attrs->Find(attr::kPrimitive));
  return primitive && primitive->value != 0;
}
// Returns whether the function counts as pure regardless of its calls.
inline bool IsForcedPure(const Function& function) {
  const auto* forced = As<IntAttr>(function.attrs->Find(attr::kForcePure));
  return forced && forced->value != 0;
}

struct ExternFunc : BaseFunc {
  IROPT_NODE_KIND(kExternFunc)
  std::string_view global_symbol;
  ExternFunc(std::string_view s, const DictAttr* a, const Type* t) : BaseFunc(kKind, a, t), global_symbol(s) {}
  static constexpr auto Fields() {
    return FieldList(TypeOf("type", &ExternFunc::type), Use("global_symbol", &ExternFunc::global_symbol));
  }
};

}  // namespace iropt
