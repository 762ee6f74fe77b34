// TIR statements and functions; the expressions are in expr.h.
#pragma once

#include "iropt/ir/tir/expr.h"

namespace iropt::tir {

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
    return FieldList(Use("value", &LetStmt::value), Def("var", &LetStmt::var), Use("body", &LetStmt::body));
  }
};

struct AttrStmt : Stmt {
  IROPT_NODE_KIND(kAttrStmt)
  const Node* node;  // an expression, IterVar, Buffer or Attr
  std::string_view attr_key;
  const PrimExpr* value;
  const Stmt* body;
  AttrStmt(const Node* n, std::string_view k, const PrimExpr* v, const Stmt* b)
      : Stmt(kKind), node(n), attr_key(k), value(v), body(b) {}
  static constexpr auto Fields() {
    return FieldList(Use("attr_key", &AttrStmt::attr_key), Def("node", &AttrStmt::node), Use("value", &AttrStmt::value),
                     Use("body", &AttrStmt::body));
  }
};

struct AssertStmt : Stmt {
  IROPT_NODE_KIND(kAssertStmt)
  const PrimExpr* condition;
  const PrimExpr* message;
  const Stmt* body;
  AssertStmt(const PrimExpr* c, const PrimExpr* m, const Stmt* b) : Stmt(kKind), condition(c), message(m), body(b) {}
  static constexpr auto Fields() {
    return FieldList(Use("condition", &AssertStmt::condition), Use("message", &AssertStmt::message),
                     Use("body", &AssertStmt::body));
  }
};

struct BufferStore : Stmt {
  IROPT_NODE_KIND(kBufferStore)
  const Buffer* buffer;
  const PrimExpr* value;
  List<const PrimExpr*> indices;
  const PrimExpr* predicate;  // null if none
  BufferStore(const Buffer* b, const PrimExpr* v, List<const PrimExpr*> i, const PrimExpr* p = nullptr)
      : Stmt(kKind), buffer(b), value(v), indices(i), predicate(p) {}
  static constexpr auto Fields() {
    return FieldList(Use("buffer", &BufferStore::buffer), Use("value", &BufferStore::value),
                     Use("indices", &BufferStore::indices), Use("predicate", &BufferStore::predicate));
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
    return FieldList(Def("buffer", &BufferRealize::buffer), Use("bounds", &BufferRealize::bounds),
                     Use("condition", &BufferRealize::condition), Use("body", &BufferRealize::body));
  }
};

// A hint that the elements in the bounds will be read soon, one range for each dimension; empty if they are unknown.
struct Prefetch : Stmt {
  IROPT_NODE_KIND(kPrefetch)
  const Buffer* buffer;
  List<const Range*> bounds;
  Prefetch(const Buffer* b, List<const Range*> r) : Stmt(kKind), buffer(b), bounds(r) {}
  static constexpr auto Fields() {
    return FieldList(Use("buffer", &Prefetch::buffer), Use("bounds", &Prefetch::bounds));
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
    return FieldList(Def("buffer_var", &Allocate::buffer_var), Use("dtype", &Allocate::dtype),
                     Use("extents", &Allocate::extents), Use("condition", &Allocate::condition),
                     Use("annotations", &Allocate::annotations), Use("body", &Allocate::body));
  }
};

struct AllocateConst : Stmt {
  IROPT_NODE_KIND(kAllocateConst)
  const Var* buffer_var;
  DataType dtype;
  List<const PrimExpr*> extents;
  const NDArray* data;      // null if storage_id names the array; kept alive by the arena
  int32_t storage_id = -1;  // -1 if data is given
  const DictAttr* annotations;
  const Stmt* body;
  AllocateConst(const Var* v, DataType t, List<const PrimExpr*> e, const NDArray* d, int32_t s, const DictAttr* a,
                const Stmt* b)
      : Stmt(kKind), buffer_var(v), dtype(t), extents(e), data(d), storage_id(s), annotations(a), body(b) {}
  static constexpr auto Fields() {
    return FieldList(Def("buffer_var", &AllocateConst::buffer_var), Use("dtype", &AllocateConst::dtype),
                     Use("extents", &AllocateConst::extents), Use("data", &AllocateConst::data),
                     Use("storage_id", &AllocateConst::storage_id), Use("annotations", &AllocateConst::annotations),
                     Use("body", &AllocateConst::body));
  }
};

struct DeclBuffer : Stmt {
  IROPT_NODE_KIND(kDeclBuffer)
  const Buffer* buffer;
  const Stmt* body;
  DeclBuffer(const Buffer* b, const Stmt* s) : Stmt(kKind), buffer(b), body(s) {}
  static constexpr auto Fields() {
    return FieldList(Def("buffer", &DeclBuffer::buffer), Use("body", &DeclBuffer::body));
  }
};

struct SeqStmt : Stmt {
  IROPT_NODE_KIND(kSeqStmt)
  List<const Stmt*> seq;
  explicit SeqStmt(List<const Stmt*> s) : Stmt(kKind), seq(s) {}
  static constexpr auto Fields() { return FieldList(Use("seq", &SeqStmt::seq)); }
};

struct IfThenElse : Stmt {
  IROPT_NODE_KIND(kIfThenElse)
  const PrimExpr* condition;
  const Stmt* then_case;
  const Stmt* else_case;  // null if none
  IfThenElse(const PrimExpr* c, const Stmt* t, const Stmt* e) : Stmt(kKind), condition(c), then_case(t), else_case(e) {}
  static constexpr auto Fields() {
    return FieldList(Use("condition", &IfThenElse::condition), Use("then_case", &IfThenElse::then_case),
                     Use("else_case", &IfThenElse::else_case));
  }
};

struct Evaluate : Stmt {
  IROPT_NODE_KIND(kEvaluate)
  const PrimExpr* value;
  explicit Evaluate(const PrimExpr* v) : Stmt(kKind), value(v) {}
  static constexpr auto Fields() { return FieldList(Use("value", &Evaluate::value)); }
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
  const PrimExpr* step;           // from one value of the variable to the next, of TVM 0.26; null for 1
  ForKind for_kind;
  // The variable is min, min + step, ... as long as it is less than min + extent.
  For(const Var* v, const PrimExpr* m, const PrimExpr* e, ForKind k, const Stmt* b, const IterVar* t, const DictAttr* a,
      const PrimExpr* s = nullptr)
      : Stmt(kKind), loop_var(v), min(m), extent(e), body(b), thread_binding(t), annotations(a), step(s), for_kind(k) {}
  static constexpr auto Fields() {
    return FieldList(Use("min", &For::min), Use("extent", &For::extent), Use("step", &For::step),
                     Def("loop_var", &For::loop_var), Use("kind", &For::for_kind),
                     Def("thread_binding", &For::thread_binding), Use("annotations", &For::annotations),
                     Use("body", &For::body));
  }
};

struct While : Stmt {
  IROPT_NODE_KIND(kWhile)
  const PrimExpr* condition;
  const Stmt* body;
  While(const PrimExpr* c, const Stmt* b) : Stmt(kKind), condition(c), body(b) {}
  static constexpr auto Fields() { return FieldList(Use("condition", &While::condition), Use("body", &While::body)); }
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
  const Stmt* init;             // null if none
  const Stmt* body;
  Block(List<const IterVar*> iters, List<const BufferRegion*> r, List<const BufferRegion*> w, std::string_view name,
        List<const Buffer*> allocs, List<const MatchBufferRegion*> matches, const DictAttr* a, const Stmt* i,
        const Stmt* b)
      : Stmt(kKind),
        iter_vars(iters),
        reads(r),
        writes(w),
        name_hint(name),
        alloc_buffers(allocs),
        match_buffers(matches),
        annotations(a),
        init(i),
        body(b) {}
  static constexpr auto Fields() {
    return FieldList(Def("iter_vars", &Block::iter_vars), Def("alloc_buffers", &Block::alloc_buffers),
                     Def("match_buffers", &Block::match_buffers), Use("annotations", &Block::annotations),
                     Use("reads", &Block::reads), Use("writes", &Block::writes), Use("init", &Block::init),
                     Use("body", &Block::body), Ignored("name_hint", &Block::name_hint));
  }
};

struct BlockRealize : Stmt {
  IROPT_NODE_KIND(kBlockRealize)
  List<const PrimExpr*> iter_values;
  const PrimExpr* predicate;
  const Block* block;
  BlockRealize(List<const PrimExpr*> v, const PrimExpr* p, const Block* b)
      : Stmt(kKind), iter_values(v), predicate(p), block(b) {}
  static constexpr auto Fields() {
    return FieldList(Use("iter_values", &BlockRealize::iter_values), Use("predicate", &BlockRealize::predicate),
                     Use("block", &BlockRealize::block));
  }
};

}  // namespace iropt::tir

namespace iropt {

// A PrimFunc. param_buffers[i] is the buffer that parameter i is matched to, or null if it is a scalar.
struct PrimFunc : BaseFunc {
  IROPT_NODE_KIND(kPrimFunc)
  List<const tir::Var*> params;
  List<const tir::Buffer*> param_buffers;
  const tir::Stmt* body;
  const Type* ret_type;  // void if nothing is returned
  PrimFunc(List<const tir::Var*> p, List<const tir::Buffer*> pb, const tir::Stmt* b, const Type* r, const DictAttr* a,
           const Type* t)
      : BaseFunc(kKind, a, t), params(p), param_buffers(pb), body(b), ret_type(r) {}
  static constexpr auto Fields() {
    return FieldList(Def("params", &PrimFunc::params), Def("param_buffers", &PrimFunc::param_buffers),
                     Use("attrs", &PrimFunc::attrs), TypeOf("ret_type", &PrimFunc::ret_type),
                     Use("body", &PrimFunc::body));
  }
};

}  // namespace iropt
