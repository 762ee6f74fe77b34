// TIR scalar expressions, and the parts of TIR nodes that are neither expression nor statement. Statements and
// functions are in stmt.h.
#pragma once

#include "iropt/ir/relax/expr.h"

namespace iropt::tir {

using ::iropt::PrimExpr;

// Element type and storage scope of a pointer variable (T.handle("float32", "global")). Interned; null element type:
// T.handle.
struct PointerInfo {
  DataType elem;           // void for T.handle("void")
  std::string_view scope;  // "" is TVM's default, "global" when printed with a scope
  bool nested = false;     // pointer to pointer
  static const PointerInfo* Get(DataType elem, std::string_view scope = {});
};

// A scalar variable. Identity is the pointer. `id` (in PrimExpr) is dense within the function that the variable lives
// in; symbolic variables are owned by the context (kContextOwned) and dense there.
struct Var : PrimExpr {
  enum Flags : uint8_t {
    kContextOwned = 1,
    kIndexMapParam = 8,  // stands for a position of an index map, in whatever function
    // Bound to the pointer that the declaration of a buffer gives as an expression: A.data is what the text has for it.
    kBufferPointer = 16,
  };
  static constexpr NodeKind kKind = NodeKind::kPrimVar;
  static constexpr bool ClassOf(NodeKind k) { return k == NodeKind::kPrimVar || k == NodeKind::kSizeVar; }
  std::string_view name;
  const PointerInfo* pointer = nullptr;  // for pointer variables with a known element type
  Var(std::string_view n, DataType t, uint32_t var_id, const PointerInfo* p = nullptr) : Var(kKind, n, t, var_id, p) {}
  bool is_size_var() const { return kind == NodeKind::kSizeVar; }
  bool context_owned() const { return flags & kContextOwned; }
  static constexpr auto Fields() { return FieldList(Use("dtype", &Var::dtype), Use("pointer", &Var::pointer)); }

 protected:
  Var(NodeKind k, std::string_view n, DataType t, uint32_t var_id, const PointerInfo* p)
      : PrimExpr(k, t), name(n), pointer(p) {
    id = var_id;
  }
};

// A variable that is not negative (a size).
struct SizeVar : Var {
  IROPT_NODE_KIND(kSizeVar)
  SizeVar(std::string_view n, DataType t, uint32_t var_id) : Var(kKind, n, t, var_id, nullptr) {}
};

struct IntImm : PrimExpr {
  IROPT_NODE_KIND(kIntImm)
  int64_t value;
  IntImm(DataType t, int64_t v) : PrimExpr(kKind, t), value(v) {}
  static constexpr auto Fields() { return FieldList(Use("dtype", &IntImm::dtype), Use("value", &IntImm::value)); }
};

struct FloatImm : PrimExpr {
  IROPT_NODE_KIND(kFloatImm)
  double value;
  FloatImm(DataType t, double v) : PrimExpr(kKind, t), value(v) {}
  static constexpr auto Fields() { return FieldList(Use("dtype", &FloatImm::dtype), Use("value", &FloatImm::value)); }
};

struct StringImm : PrimExpr {
  IROPT_NODE_KIND(kPrimStringImm)
  std::string_view value;
  explicit StringImm(std::string_view v) : PrimExpr(kKind, DataType::Handle()), value(v) {}
  static constexpr auto Fields() { return FieldList(Use("value", &StringImm::value)); }
};

struct Cast : PrimExpr {
  IROPT_NODE_KIND(kCast)
  const PrimExpr* value;
  Cast(DataType t, const PrimExpr* v) : PrimExpr(kKind, t), value(v) {}
  static constexpr auto Fields() { return FieldList(Use("dtype", &Cast::dtype), Use("value", &Cast::value)); }
};

// All binary operations share one layout, so that code can treat them alike.
struct BinaryExpr : PrimExpr {
  const PrimExpr* a;
  const PrimExpr* b;
  static constexpr bool ClassOf(NodeKind k) { return k >= NodeKind::kAdd && k <= NodeKind::kOr; }
  static constexpr auto Fields() {
    return FieldList(Use("dtype", &BinaryExpr::dtype), Use("a", &BinaryExpr::a), Use("b", &BinaryExpr::b));
  }
  // The node of kind `k`; the dtype is that of the operands (bool, with their lanes, for comparisons and logic).
  BinaryExpr(NodeKind k, const PrimExpr* x, const PrimExpr* y)
      : PrimExpr(k, k >= NodeKind::kEQ ? DataType::Make(TypeCode::kUInt, 1, x->dtype.lanes) : x->dtype), a(x), b(y) {}
};

#define IROPT_BINARY(Name)                                                                                             \
  struct Name : BinaryExpr {                                                                                           \
    IROPT_NODE_KIND(k##Name)                                                                                           \
    Name(const PrimExpr* x, const PrimExpr* y) : BinaryExpr(kKind, x, y) {}                                            \
  };
IROPT_BINARY(Add)
IROPT_BINARY(Sub)
IROPT_BINARY(Mul)
IROPT_BINARY(Div)  // truncated division of integers; division of floats
IROPT_BINARY(Mod)
IROPT_BINARY(FloorDiv)
IROPT_BINARY(FloorMod)
IROPT_BINARY(Min)
IROPT_BINARY(Max)
IROPT_BINARY(EQ)
IROPT_BINARY(NE)
IROPT_BINARY(LT)
IROPT_BINARY(LE)
IROPT_BINARY(GT)
IROPT_BINARY(GE)
IROPT_BINARY(And)
IROPT_BINARY(Or)
#undef IROPT_BINARY

struct Not : PrimExpr {
  IROPT_NODE_KIND(kNot)
  const PrimExpr* a;
  explicit Not(const PrimExpr* x) : PrimExpr(kKind, DataType::Make(TypeCode::kUInt, 1, x->dtype.lanes)), a(x) {}
  static constexpr auto Fields() { return FieldList(Use("dtype", &Not::dtype), Use("a", &Not::a)); }
};

struct Select : PrimExpr {
  IROPT_NODE_KIND(kSelect)
  const PrimExpr* condition;
  const PrimExpr* true_value;
  const PrimExpr* false_value;
  Select(const PrimExpr* c, const PrimExpr* t, const PrimExpr* f)
      : PrimExpr(kKind, t->dtype), condition(c), true_value(t), false_value(f) {}
  static constexpr auto Fields() {
    return FieldList(Use("dtype", &Select::dtype), Use("condition", &Select::condition),
                     Use("true_value", &Select::true_value), Use("false_value", &Select::false_value));
  }
};

struct Let : PrimExpr {
  IROPT_NODE_KIND(kLet)
  const Var* var;
  const PrimExpr* value;
  const PrimExpr* body;
  Let(const Var* v, const PrimExpr* e, const PrimExpr* b) : PrimExpr(kKind, b->dtype), var(v), value(e), body(b) {}
  static constexpr auto Fields() {
    return FieldList(Use("value", &Let::value), Def("var", &Let::var), Use("body", &Let::body));
  }
};

// A call of an intrinsic (Op) or of a function of the module (GlobalVar).
struct Call : PrimExpr {
  IROPT_NODE_KIND(kPrimCall)
  const Expr* op;
  List<const PrimExpr*> args;
  const PointerInfo* pointer;  // of a call that returns a pointer with a known element type; null for others
  Call(DataType t, const Expr* o, List<const PrimExpr*> a, const PointerInfo* p = nullptr)
      : PrimExpr(kKind, t), op(o), args(a), pointer(p) {}
  static constexpr auto Fields() {
    return FieldList(Use("dtype", &Call::dtype), Use("op", &Call::op), Use("args", &Call::args),
                     Use("pointer", &Call::pointer));
  }
};

struct BufferLoad : PrimExpr {
  IROPT_NODE_KIND(kBufferLoad)
  const Buffer* buffer;
  List<const PrimExpr*> indices;
  const PrimExpr* predicate;  // null if none
  BufferLoad(DataType t, const Buffer* b, List<const PrimExpr*> i, const PrimExpr* p = nullptr)
      : PrimExpr(kKind, t), buffer(b), indices(i), predicate(p) {}
  static constexpr auto Fields() {
    return FieldList(Use("dtype", &BufferLoad::dtype), Use("buffer", &BufferLoad::buffer),
                     Use("indices", &BufferLoad::indices), Use("predicate", &BufferLoad::predicate));
  }
};

struct DataProducer;

struct ProducerLoad : PrimExpr {
  IROPT_NODE_KIND(kProducerLoad)
  const DataProducer* producer;
  List<const PrimExpr*> indices;
  ProducerLoad(DataType t, const DataProducer* p, List<const PrimExpr*> i)
      : PrimExpr(kKind, t), producer(p), indices(i) {}
  static constexpr auto Fields() {
    return FieldList(Use("dtype", &ProducerLoad::dtype), Use("producer", &ProducerLoad::producer),
                     Use("indices", &ProducerLoad::indices));
  }
};

struct Ramp : PrimExpr {
  IROPT_NODE_KIND(kRamp)
  const PrimExpr* base;
  const PrimExpr* stride;
  const PrimExpr* lanes;
  Ramp(DataType t, const PrimExpr* b, const PrimExpr* s, const PrimExpr* l)
      : PrimExpr(kKind, t), base(b), stride(s), lanes(l) {}
  static constexpr auto Fields() {
    return FieldList(Use("dtype", &Ramp::dtype), Use("base", &Ramp::base), Use("stride", &Ramp::stride),
                     Use("lanes", &Ramp::lanes));
  }
};

struct Broadcast : PrimExpr {
  IROPT_NODE_KIND(kBroadcast)
  const PrimExpr* value;
  const PrimExpr* lanes;
  Broadcast(DataType t, const PrimExpr* v, const PrimExpr* l) : PrimExpr(kKind, t), value(v), lanes(l) {}
  static constexpr auto Fields() {
    return FieldList(Use("dtype", &Broadcast::dtype), Use("value", &Broadcast::value), Use("lanes", &Broadcast::lanes));
  }
};

struct Shuffle : PrimExpr {
  IROPT_NODE_KIND(kShuffle)
  List<const PrimExpr*> vectors;
  List<const PrimExpr*> indices;
  Shuffle(DataType t, List<const PrimExpr*> v, List<const PrimExpr*> i) : PrimExpr(kKind, t), vectors(v), indices(i) {}
  static constexpr auto Fields() {
    return FieldList(Use("dtype", &Shuffle::dtype), Use("vectors", &Shuffle::vectors),
                     Use("indices", &Shuffle::indices));
  }
};

struct CommReducer;
struct IterVar;

struct Reduce : PrimExpr {
  IROPT_NODE_KIND(kReduce)
  const CommReducer* combiner;
  List<const PrimExpr*> source;
  List<const PrimExpr*> init;
  List<const IterVar*> axis;
  const PrimExpr* condition;
  int32_t value_index;
  Reduce(DataType t, const CommReducer* c, List<const PrimExpr*> s, List<const PrimExpr*> i, List<const IterVar*> a,
         const PrimExpr* cond, int32_t index)
      : PrimExpr(kKind, t), combiner(c), source(s), init(i), axis(a), condition(cond), value_index(index) {}
  static constexpr auto Fields() {
    return FieldList(Use("dtype", &Reduce::dtype), Use("combiner", &Reduce::combiner), Def("axis", &Reduce::axis),
                     Use("source", &Reduce::source), Use("init", &Reduce::init), Use("condition", &Reduce::condition),
                     Use("value_index", &Reduce::value_index));
  }
};

// ---- Parts

struct Range : Node {
  IROPT_NODE_KIND(kRange)
  const PrimExpr* min;
  const PrimExpr* extent;
  Range(const PrimExpr* m, const PrimExpr* e) : Node(kKind), min(m), extent(e) {}
  static constexpr auto Fields() { return FieldList(Use("min", &Range::min), Use("extent", &Range::extent)); }
};

enum class IterVarType : uint8_t {
  kDataPar,
  kThreadIndex,
  kCommReduce,
  kOrdered,
  kOpaque,
  kUnrolled,
  kVectorized,
  kParallelized,
  kTensorized
};

struct IterVar : Node {
  IROPT_NODE_KIND(kIterVar)
  const Range* dom;  // null if unknown (thread axes)
  const Var* var;
  IterVarType iter_type;
  std::string_view thread_tag;
  IterVar(const Range* d, const Var* v, IterVarType t, std::string_view tag = {})
      : Node(kKind), dom(d), var(v), iter_type(t), thread_tag(tag) {}
  static constexpr auto Fields() {
    return FieldList(Use("dom", &IterVar::dom), Def("var", &IterVar::var), Use("iter_type", &IterVar::iter_type),
                     Use("thread_tag", &IterVar::thread_tag));
  }
};

enum class BufferType : uint8_t { kDefault, kAutoBroadcast };

// A typed view of memory. Identity is the pointer.
struct Buffer : Node {
  IROPT_NODE_KIND(kBuffer)
  const Var* data;
  DataType dtype;
  uint32_t id;  // dense with the variables of the function
  List<const PrimExpr*> shape;
  List<const PrimExpr*> strides;
  const PrimExpr* elem_offset;
  List<int64_t> axis_separators;
  std::string_view name;
  int32_t data_alignment;
  int32_t offset_factor;
  BufferType buffer_type;
  // The layout of the elements in memory, which TVM 0.25 states: a call of tir.TileLayout, tir.ComposeLayout or
  // tir.default_layout, which is the compact layout of the shape. Null if nothing is stated, as in older versions.
  const PrimExpr* layout = nullptr;
  List<const PrimExpr*> allocated_addr;  // the place in a memory that the program manages itself; empty if unknown
  Buffer(const Var* d, DataType t, uint32_t buffer_id, List<const PrimExpr*> sh, List<const PrimExpr*> st,
         const PrimExpr* off, List<int64_t> sep, std::string_view n, int32_t align, int32_t factor, BufferType bt)
      : Node(kKind),
        data(d),
        dtype(t),
        id(buffer_id),
        shape(sh),
        strides(st),
        elem_offset(off),
        axis_separators(sep),
        name(n),
        data_alignment(align),
        offset_factor(factor),
        buffer_type(bt) {}
  // Storage scope of the data pointer; "global" by default.
  std::string_view scope() const {
    return data->pointer && !data->pointer->scope.empty() ? data->pointer->scope : "global";
  }
  static constexpr auto Fields() {
    return FieldList(Def("data", &Buffer::data), Use("dtype", &Buffer::dtype), Def("shape", &Buffer::shape),
                     Def("strides", &Buffer::strides), Def("elem_offset", &Buffer::elem_offset),
                     Use("axis_separators", &Buffer::axis_separators), Use("data_alignment", &Buffer::data_alignment),
                     Use("offset_factor", &Buffer::offset_factor), Use("buffer_type", &Buffer::buffer_type),
                     Use("layout", &Buffer::layout), Use("allocated_addr", &Buffer::allocated_addr),
                     Ignored("name", &Buffer::name));
  }
};

struct BufferRegion : Node {
  IROPT_NODE_KIND(kBufferRegion)
  const Buffer* buffer;
  List<const Range*> region;
  BufferRegion(const Buffer* b, List<const Range*> r) : Node(kKind), buffer(b), region(r) {}
  static constexpr auto Fields() {
    return FieldList(Use("buffer", &BufferRegion::buffer), Use("region", &BufferRegion::region));
  }
};

struct MatchBufferRegion : Node {
  IROPT_NODE_KIND(kMatchBufferRegion)
  const Buffer* buffer;
  const BufferRegion* source;
  MatchBufferRegion(const Buffer* b, const BufferRegion* s) : Node(kKind), buffer(b), source(s) {}
  static constexpr auto Fields() {
    return FieldList(Use("source", &MatchBufferRegion::source), Def("buffer", &MatchBufferRegion::buffer));
  }
};

struct CommReducer : Node {
  IROPT_NODE_KIND(kCommReducer)
  List<const Var*> lhs;
  List<const Var*> rhs;
  List<const PrimExpr*> result;
  List<const PrimExpr*> identity_element;
  CommReducer(List<const Var*> l, List<const Var*> r, List<const PrimExpr*> res, List<const PrimExpr*> id)
      : Node(kKind), lhs(l), rhs(r), result(res), identity_element(id) {}
  static constexpr auto Fields() {
    return FieldList(Def("lhs", &CommReducer::lhs), Def("rhs", &CommReducer::rhs), Use("result", &CommReducer::result),
                     Use("identity_element", &CommReducer::identity_element));
  }
};

// A tensor that ProducerLoad reads before buffers are assigned.
struct DataProducer : Node {
  IROPT_NODE_KIND(kDataProducer)
  std::string_view name;
  DataType dtype;
  List<const PrimExpr*> shape;
  DataProducer(std::string_view n, DataType t, List<const PrimExpr*> s) : Node(kKind), name(n), dtype(t), shape(s) {}
  static constexpr auto Fields() {
    return FieldList(Ignored("name", &DataProducer::name), Use("dtype", &DataProducer::dtype),
                     Use("shape", &DataProducer::shape));
  }
};

}  // namespace iropt::tir
