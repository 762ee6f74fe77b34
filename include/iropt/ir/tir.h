// Loop-level expressions, statements and functions (TIR).
#pragma once

#include "iropt/ir/expr.h"

namespace iropt::tir {

using ::iropt::PrimExpr;

// Element type and storage scope of a pointer variable (T.handle("float32", "global")). Interned; null element type: T.handle.
struct PointerInfo {
  DataType elem;           // void for T.handle("void")
  std::string_view scope;  // "" is TVM's default, "global" when printed with a scope
  bool nested = false;     // pointer to pointer
  static const PointerInfo* Get(DataType elem, std::string_view scope = {});
};

// A scalar variable. Identity is the pointer. `id` (in PrimExpr) is dense within the function that the variable lives in;
// symbolic variables are owned by the context (kContextOwned) and dense there.
struct Var : PrimExpr {
  enum Flags : uint8_t {
    kContextOwned = 1,
    kIndexMapParam = 8,  // stands for a position of an index map, whatever the function around
  };
  static constexpr NodeKind kKind = NodeKind::kPrimVar;
  static constexpr bool ClassOf(NodeKind k) { return k == NodeKind::kPrimVar || k == NodeKind::kSizeVar; }
  std::string_view name;
  const PointerInfo* pointer = nullptr;  // for pointer variables with a known element type
  Var(std::string_view n, DataType t, uint32_t var_id, const PointerInfo* p = nullptr) : Var(kKind, n, t, var_id, p) {}
  bool is_size_var() const { return kind == NodeKind::kSizeVar; }
  bool context_owned() const { return flags & kContextOwned; }
  static constexpr auto Fields() { return std::tuple{Use("dtype", &Var::dtype), Use("pointer", &Var::pointer)}; }

 protected:
  Var(NodeKind k, std::string_view n, DataType t, uint32_t var_id, const PointerInfo* p) : PrimExpr(k, t), name(n), pointer(p) { id = var_id; }
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
  static constexpr auto Fields() { return std::tuple{Use("dtype", &IntImm::dtype), Use("value", &IntImm::value)}; }
};

struct FloatImm : PrimExpr {
  IROPT_NODE_KIND(kFloatImm)
  double value;
  FloatImm(DataType t, double v) : PrimExpr(kKind, t), value(v) {}
  static constexpr auto Fields() { return std::tuple{Use("dtype", &FloatImm::dtype), Use("value", &FloatImm::value)}; }
};

struct StringImm : PrimExpr {
  IROPT_NODE_KIND(kPrimStringImm)
  std::string_view value;
  explicit StringImm(std::string_view v) : PrimExpr(kKind, DataType::Handle()), value(v) {}
  static constexpr auto Fields() { return std::tuple{Use("value", &StringImm::value)}; }
};

struct Cast : PrimExpr {
  IROPT_NODE_KIND(kCast)
  const PrimExpr* value;
  Cast(DataType t, const PrimExpr* v) : PrimExpr(kKind, t), value(v) {}
  static constexpr auto Fields() { return std::tuple{Use("dtype", &Cast::dtype), Use("value", &Cast::value)}; }
};

// All binary operations share one layout, so that code can treat them alike.
struct BinaryExpr : PrimExpr {
  const PrimExpr* a;
  const PrimExpr* b;
  static constexpr bool ClassOf(NodeKind k) { return k >= NodeKind::kAdd && k <= NodeKind::kOr; }
  static constexpr auto Fields() {
    return std::tuple{Use("dtype", &BinaryExpr::dtype), Use("a", &BinaryExpr::a), Use("b", &BinaryExpr::b)};
  }
  // The node of kind `k`; the dtype is that of the operands (bool, with their lanes, for comparisons and logic).
  BinaryExpr(NodeKind k, const PrimExpr* x, const PrimExpr* y)
      : PrimExpr(k, k >= NodeKind::kEQ ? DataType::Make(TypeCode::kUInt, 1, x->dtype.lanes) : x->dtype), a(x), b(y) {}
};

#define IROPT_BINARY(Name)                                                      \
  struct Name : BinaryExpr {                                                    \
    IROPT_NODE_KIND(k##Name)                                                    \
    Name(const PrimExpr* x, const PrimExpr* y) : BinaryExpr(kKind, x, y) {}     \
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
  static constexpr auto Fields() { return std::tuple{Use("dtype", &Not::dtype), Use("a", &Not::a)}; }
};

struct Select : PrimExpr {
  IROPT_NODE_KIND(kSelect)
  const PrimExpr* condition;
  const PrimExpr* true_value;
  const PrimExpr* false_value;
  Select(const PrimExpr* c, const PrimExpr* t, const PrimExpr* f) : PrimExpr(kKind, t->dtype), condition(c), true_value(t), false_value(f) {}
  static constexpr auto Fields() {
    return std::tuple{Use("dtype", &Select::dtype), Use("condition", &Select::condition), Use("true_value", &Select::true_value),
                      Use("false_value", &Select::false_value)};
  }
};

struct Let : PrimExpr {
  IROPT_NODE_KIND(kLet)
  const Var* var;
  const PrimExpr* value;
  const PrimExpr* body;
  Let(const Var* v, const PrimExpr* e, const PrimExpr* b) : PrimExpr(kKind, b->dtype), var(v), value(e), body(b) {}
  static constexpr auto Fields() {
    return std::tuple{Use("value", &Let::value), Def("var", &Let::var), Use("body", &Let::body)};
  }
};

// A call of an intrinsic (Op) or of a function of the module (GlobalVar).
struct Call : PrimExpr {
  IROPT_NODE_KIND(kPrimCall)
  const Expr* op;
  List<const PrimExpr*> args;
  Call(DataType t, const Expr* o, List<const PrimExpr*> a) : PrimExpr(kKind, t), op(o), args(a) {}
  static constexpr auto Fields() {
    return std::tuple{Use("dtype", &Call::dtype), Use("op", &Call::op), Use("args", &Call::args)};
  }
};

struct BufferLoad : PrimExpr {
  IROPT_NODE_KIND(kBufferLoad)
  const Buffer* buffer;
  List<const PrimExpr*> indices;
  const PrimExpr* predicate;  // null where none
  BufferLoad(DataType t, const Buffer* b, List<const PrimExpr*> i, const PrimExpr* p = nullptr)
      : PrimExpr(kKind, t), buffer(b), indices(i), predicate(p) {}
  static constexpr auto Fields() {
    return std::tuple{Use("dtype", &BufferLoad::dtype), Use("buffer", &BufferLoad::buffer), Use("indices", &BufferLoad::indices),
                      Use("predicate", &BufferLoad::predicate)};
  }
};

struct DataProducer;

struct ProducerLoad : PrimExpr {
  IROPT_NODE_KIND(kProducerLoad)
  const DataProducer* producer;
  List<const PrimExpr*> indices;
  ProducerLoad(DataType t, const DataProducer* p, List<const PrimExpr*> i) : PrimExpr(kKind, t), producer(p), indices(i) {}
  static constexpr auto Fields() {
    return std::tuple{Use("dtype", &ProducerLoad::dtype), Use("producer", &ProducerLoad::producer),
                      Use("indices", &ProducerLoad::indices)};
  }
};

struct Ramp : PrimExpr {
  IROPT_NODE_KIND(kRamp)
  const PrimExpr* base;
  const PrimExpr* stride;
  const PrimExpr* lanes;
  Ramp(DataType t, const PrimExpr* b, const PrimExpr* s, const PrimExpr* l) : PrimExpr(kKind, t), base(b), stride(s), lanes(l) {}
  static constexpr auto Fields() {
    return std::tuple{Use("dtype", &Ramp::dtype), Use("base", &Ramp::base), Use("stride", &Ramp::stride), Use("lanes", &Ramp::lanes)};
  }
};

struct Broadcast : PrimExpr {
  IROPT_NODE_KIND(kBroadcast)
  const PrimExpr* value;
  const PrimExpr* lanes;
  Broadcast(DataType t, const PrimExpr* v, const PrimExpr* l) : PrimExpr(kKind, t), value(v), lanes(l) {}
  static constexpr auto Fields() {
    return std::tuple{Use("dtype", &Broadcast::dtype), Use("value", &Broadcast::value), Use("lanes", &Broadcast::lanes)};
  }
};

struct Shuffle : PrimExpr {
  IROPT_NODE_KIND(kShuffle)
  List<const PrimExpr*> vectors;
  List<const PrimExpr*> indices;
  Shuffle(DataType t, List<const PrimExpr*> v, List<const PrimExpr*> i) : PrimExpr(kKind, t), vectors(v), indices(i) {}
  static constexpr auto Fields() {
    return std::tuple{Use("dtype", &Shuffle::dtype), Use("vectors", &Shuffle::vectors), Use("indices", &Shuffle::indices)};
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
    return std::tuple{Use("dtype", &Reduce::dtype), Use("combiner", &Reduce::combiner), Def("axis", &Reduce::axis),
                      Use("source", &Reduce::source), Use("init", &Reduce::init), Use("condition", &Reduce::condition),
                      Use("value_index", &Reduce::value_index)};
  }
};

// ---- Parts

struct Range : Node {
  IROPT_NODE_KIND(kRange)
  const PrimExpr* min;
  const PrimExpr* extent;
  Range(const PrimExpr* m, const PrimExpr* e) : Node(kKind), min(m), extent(e) {}
  static constexpr auto Fields() { return std::tuple{Use("min", &Range::min), Use("extent", &Range::extent)}; }
};

enum class IterVarType : uint8_t {
  kDataPar, kThreadIndex, kCommReduce, kOrdered, kOpaque, kUnrolled, kVectorized, kParallelized, kTensorized
};

struct IterVar : Node {
  IROPT_NODE_KIND(kIterVar)
  const Range* dom;  // null where unknown (thread axes)
  const Var* var;
  IterVarType iter_type;
  std::string_view thread_tag;
  IterVar(const Range* d, const Var* v, IterVarType t, std::string_view tag = {}) : Node(kKind), dom(d), var(v), iter_type(t), thread_tag(tag) {}
  static constexpr auto Fields() {
    return std::tuple{Use("dom", &IterVar::dom), Def("var", &IterVar::var), Use("iter_type", &IterVar::iter_type),
                      Use("thread_tag", &IterVar::thread_tag)};
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
  Buffer(const Var* d, DataType t, uint32_t buffer_id, List<const PrimExpr*> sh, List<const PrimExpr*> st, const PrimExpr* off,
         List<int64_t> sep, std::string_view n, int32_t align, int32_t factor, BufferType bt)
      : Node(kKind), data(d), dtype(t), id(buffer_id), shape(sh), strides(st), elem_offset(off), axis_separators(sep), name(n),
        data_alignment(align), offset_factor(factor), buffer_type(bt) {}
  // Storage scope of the data pointer; "global" where none is given.
  std::string_view scope() const { return data->pointer && !data->pointer->scope.empty() ? data->pointer->scope : "global"; }
  static constexpr auto Fields() {
    return std::tuple{Def("data", &Buffer::data),
                      Use("dtype", &Buffer::dtype),
                      Def("shape", &Buffer::shape),
                      Def("strides", &Buffer::strides),
                      Def("elem_offset", &Buffer::elem_offset),
                      Use("axis_separators", &Buffer::axis_separators),
                      Use("data_alignment", &Buffer::data_alignment),
                      Use("offset_factor", &Buffer::offset_factor),
                      Use("buffer_type", &Buffer::buffer_type),
                      Ignored("name", &Buffer::name)};
  }
};

struct BufferRegion : Node {
  IROPT_NODE_KIND(kBufferRegion)
  const Buffer* buffer;
  List<const Range*> region;
  BufferRegion(const Buffer* b, List<const Range*> r) : Node(kKind), buffer(b), region(r) {}
  static constexpr auto Fields() { return std::tuple{Use("buffer", &BufferRegion::buffer), Use("region", &BufferRegion::region)}; }
};

struct MatchBufferRegion : Node {
  IROPT_NODE_KIND(kMatchBufferRegion)
  const Buffer* buffer;
  const BufferRegion* source;
  MatchBufferRegion(const Buffer* b, const BufferRegion* s) : Node(kKind), buffer(b), source(s) {}
  static constexpr auto Fields() {
    return std::tuple{Use("source", &MatchBufferRegion::source), Def("buffer", &MatchBufferRegion::buffer)};
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
    return std::tuple{Def("lhs", &CommReducer::lhs), Def("rhs", &CommReducer::rhs), Use("result", &CommReducer::result),
                      Use("identity_element", &CommReducer::identity_element)};
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
    return std::tuple{Ignored("name", &DataProducer::name), Use("dtype", &DataProducer::dtype), Use("shape", &DataProducer::shape)};
  }
};

// ---- Statements

struct Stmt : Node {
  static constexpr bool ClassOf(NodeKind k) { return k >= NodeKind::kLetStmt && k <= NodeKind::kBlockRealize; }

 protected:
  explicit Stmt(NodeKind k) : Node(k) {}
};

struct LetStmt : Stmt {
  IROPT_NODE_KIND(kLetStmt)
  const Var* var;
  const PrimExpr* value;
  const Stmt* body;
  LetStmt(const Var* v, const PrimExpr* e, const Stmt* b) : Stmt(kKind), var(v), value(e), body(b) {}
  static constexpr auto Fields() {
    return std::tuple{Use("value", &LetStmt::value), Def("var", &LetStmt::var), Use("body", &LetStmt::body)};
  }
};

struct AttrStmt : Stmt {
  IROPT_NODE_KIND(kAttrStmt)
  const Node* node;  // an expression, IterVar, Buffer or Attr
  std::string_view attr_key;
  const PrimExpr* value;
  const Stmt* body;
  AttrStmt(const Node* n, std::string_view k, const PrimExpr* v, const Stmt* b) : Stmt(kKind), node(n), attr_key(k), value(v), body(b) {}
  static constexpr auto Fields() {
    return std::tuple{Use("attr_key", &AttrStmt::attr_key), Def("node", &AttrStmt::node), Use("value", &AttrStmt::value),
                      Use("body", &AttrStmt::body)};
  }
};

struct AssertStmt : Stmt {
  IROPT_NODE_KIND(kAssertStmt)
  const PrimExpr* condition;
  const PrimExpr* message;
  const Stmt* body;
  AssertStmt(const PrimExpr* c, const PrimExpr* m, const Stmt* b) : Stmt(kKind), condition(c), message(m), body(b) {}
  static constexpr auto Fields() {
    return std::tuple{Use("condition", &AssertStmt::condition), Use("message", &AssertStmt::message), Use("body", &AssertStmt::body)};
  }
};

struct BufferStore : Stmt {
  IROPT_NODE_KIND(kBufferStore)
  const Buffer* buffer;
  const PrimExpr* value;
  List<const PrimExpr*> indices;
  const PrimExpr* predicate;  // null where none
  BufferStore(const Buffer* b, const PrimExpr* v, List<const PrimExpr*> i, const PrimExpr* p = nullptr)
      : Stmt(kKind), buffer(b), value(v), indices(i), predicate(p) {}
  static constexpr auto Fields() {
    return std::tuple{Use("buffer", &BufferStore::buffer), Use("value", &BufferStore::value), Use("indices", &BufferStore::indices),
                      Use("predicate", &BufferStore::predicate)};
  }
};

struct BufferRealize : Stmt {
  IROPT_NODE_KIND(kBufferRealize)
  const Buffer* buffer;
  List<const Range*> bounds;
  const PrimExpr* condition;
  const Stmt* body;
  BufferRealize(const Buffer* b, List<const Range*> r, const PrimExpr* c, const Stmt* s)
      : Stmt(kKind), buffer(b), bounds(r), condition(c), body(s) {}
  static constexpr auto Fields() {
    return std::tuple{Def("buffer", &BufferRealize::buffer), Use("bounds", &BufferRealize::bounds),
                      Use("condition", &BufferRealize::condition), Use("body", &BufferRealize::body)};
  }
};

struct Allocate : Stmt {
  IROPT_NODE_KIND(kAllocate)
  const Var* buffer_var;
  DataType dtype;
  List<const PrimExpr*> extents;
  const PrimExpr* condition;
  const DictAttr* annotations;  // never null
  const Stmt* body;
  Allocate(const Var* v, DataType t, List<const PrimExpr*> e, const PrimExpr* c, const DictAttr* a, const Stmt* b)
      : Stmt(kKind), buffer_var(v), dtype(t), extents(e), condition(c), annotations(a), body(b) {}
  static constexpr auto Fields() {
    return std::tuple{Def("buffer_var", &Allocate::buffer_var), Use("dtype", &Allocate::dtype), Use("extents", &Allocate::extents),
                      Use("condition", &Allocate::condition), Use("annotations", &Allocate::annotations), Use("body", &Allocate::body)};
  }
};

struct AllocateConst : Stmt {
  IROPT_NODE_KIND(kAllocateConst)
  const Var* buffer_var;
  DataType dtype;
  List<const PrimExpr*> extents;
  const NDArray* data;      // null where storage_id names the array; kept alive by the arena
  int32_t storage_id = -1;  // -1 where data is given
  const DictAttr* annotations;
  const Stmt* body;
  AllocateConst(const Var* v, DataType t, List<const PrimExpr*> e, const NDArray* d, int32_t s, const DictAttr* a, const Stmt* b)
      : Stmt(kKind), buffer_var(v), dtype(t), extents(e), data(d), storage_id(s), annotations(a), body(b) {}
  static constexpr auto Fields() {
    return std::tuple{Def("buffer_var", &AllocateConst::buffer_var), Use("dtype", &AllocateConst::dtype),
                      Use("extents", &AllocateConst::extents), Use("data", &AllocateConst::data),
                      Use("storage_id", &AllocateConst::storage_id), Use("annotations", &AllocateConst::annotations),
                      Use("body", &AllocateConst::body)};
  }
};

struct DeclBuffer : Stmt {
  IROPT_NODE_KIND(kDeclBuffer)
  const Buffer* buffer;
  const Stmt* body;
  DeclBuffer(const Buffer* b, const Stmt* s) : Stmt(kKind), buffer(b), body(s) {}
  static constexpr auto Fields() { return std::tuple{Def("buffer", &DeclBuffer::buffer), Use("body", &DeclBuffer::body)}; }
};

struct SeqStmt : Stmt {
  IROPT_NODE_KIND(kSeqStmt)
  List<const Stmt*> seq;
  explicit SeqStmt(List<const Stmt*> s) : Stmt(kKind), seq(s) {}
  static constexpr auto Fields() { return std::tuple{Use("seq", &SeqStmt::seq)}; }
};

struct IfThenElse : Stmt {
  IROPT_NODE_KIND(kIfThenElse)
  const PrimExpr* condition;
  const Stmt* then_case;
  const Stmt* else_case;  // null where none
  IfThenElse(const PrimExpr* c, const Stmt* t, const Stmt* e) : Stmt(kKind), condition(c), then_case(t), else_case(e) {}
  static constexpr auto Fields() {
    return std::tuple{Use("condition", &IfThenElse::condition), Use("then_case", &IfThenElse::then_case),
                      Use("else_case", &IfThenElse::else_case)};
  }
};

struct Evaluate : Stmt {
  IROPT_NODE_KIND(kEvaluate)
  const PrimExpr* value;
  explicit Evaluate(const PrimExpr* v) : Stmt(kKind), value(v) {}
  static constexpr auto Fields() { return std::tuple{Use("value", &Evaluate::value)}; }
};

enum class ForKind : uint8_t { kSerial, kParallel, kVectorized, kUnrolled, kThreadBinding };

struct For : Stmt {
  IROPT_NODE_KIND(kFor)
  const Var* loop_var;
  const PrimExpr* min;
  const PrimExpr* extent;
  const Stmt* body;
  const IterVar* thread_binding;  // for kThreadBinding, else null
  const DictAttr* annotations;    // never null
  ForKind for_kind;
  For(const Var* v, const PrimExpr* m, const PrimExpr* e, ForKind k, const Stmt* b, const IterVar* t, const DictAttr* a)
      : Stmt(kKind), loop_var(v), min(m), extent(e), body(b), thread_binding(t), annotations(a), for_kind(k) {}
  static constexpr auto Fields() {
    return std::tuple{Use("min", &For::min), Use("extent", &For::extent), Def("loop_var", &For::loop_var), Use("kind", &For::for_kind),
                      Def("thread_binding", &For::thread_binding), Use("annotations", &For::annotations), Use("body", &For::body)};
  }
};

struct While : Stmt {
  IROPT_NODE_KIND(kWhile)
  const PrimExpr* condition;
  const Stmt* body;
  While(const PrimExpr* c, const Stmt* b) : Stmt(kKind), condition(c), body(b) {}
  static constexpr auto Fields() { return std::tuple{Use("condition", &While::condition), Use("body", &While::body)}; }
};

struct Block : Stmt {
  IROPT_NODE_KIND(kBlockStmt)
  List<const IterVar*> iter_vars;
  List<const BufferRegion*> reads;
  List<const BufferRegion*> writes;
  std::string_view name_hint;
  List<const Buffer*> alloc_buffers;
  List<const MatchBufferRegion*> match_buffers;
  const DictAttr* annotations;  // never null
  const Stmt* init;             // null where none
  const Stmt* body;
  Block(List<const IterVar*> iters, List<const BufferRegion*> r, List<const BufferRegion*> w, std::string_view name,
        List<const Buffer*> allocs, List<const MatchBufferRegion*> matches, const DictAttr* a, const Stmt* i, const Stmt* b)
      : Stmt(kKind), iter_vars(iters), reads(r), writes(w), name_hint(name), alloc_buffers(allocs), match_buffers(matches),
        annotations(a), init(i), body(b) {}
  static constexpr auto Fields() {
    return std::tuple{Def("iter_vars", &Block::iter_vars),       Def("alloc_buffers", &Block::alloc_buffers),
                      Def("match_buffers", &Block::match_buffers), Use("annotations", &Block::annotations),
                      Use("reads", &Block::reads),               Use("writes", &Block::writes),
                      Use("init", &Block::init),                 Use("body", &Block::body),
                      Ignored("name_hint", &Block::name_hint)};
  }
};

struct BlockRealize : Stmt {
  IROPT_NODE_KIND(kBlockRealize)
  List<const PrimExpr*> iter_values;
  const PrimExpr* predicate;
  const Block* block;
  BlockRealize(List<const PrimExpr*> v, const PrimExpr* p, const Block* b) : Stmt(kKind), iter_values(v), predicate(p), block(b) {}
  static constexpr auto Fields() {
    return std::tuple{Use("iter_values", &BlockRealize::iter_values), Use("predicate", &BlockRealize::predicate),
                      Use("block", &BlockRealize::block)};
  }
};

}  // namespace iropt::tir

namespace iropt {

// A loop-level function. param_buffers[i] is the buffer that parameter i is matched to, or null where it is a scalar.
struct PrimFunc : BaseFunc {
  IROPT_NODE_KIND(kPrimFunc)
  List<const tir::Var*> params;
  List<const tir::Buffer*> param_buffers;
  const tir::Stmt* body;
  const Type* ret_type;  // void where nothing is returned
  PrimFunc(List<const tir::Var*> p, List<const tir::Buffer*> pb, const tir::Stmt* b, const Type* r, const DictAttr* a, const Type* t)
      : BaseFunc(kKind, a, t), params(p), param_buffers(pb), body(b), ret_type(r) {}
  static constexpr auto Fields() {
    return std::tuple{Def("params", &PrimFunc::params), Def("param_buffers", &PrimFunc::param_buffers), Use("attrs", &PrimFunc::attrs),
                      TypeOf("ret_type", &PrimFunc::ret_type), Use("body", &PrimFunc::body)};
  }
};

}  // namespace iropt
