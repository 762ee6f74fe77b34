// Rewriting TIR code. See substitute.h for replacing variables, visitor.h for walking.
//
// Nothing is copied before something below changed: a mutator that changes nothing allocates nothing and returns the
// same pointers. A node costs two or three virtual calls; nesting may be of any depth.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/ir/var_map.h"

namespace iropt::tir {

// Returns a rewritten scalar expression, which is the same pointer if nothing below changed. Override the functions for
// the nodes to rewrite, and call the function of the base class to visit the operands.
class ExprMutator {
 public:
  explicit ExprMutator(Workspace& workspace) : workspace_(workspace) {}
  virtual ~ExprMutator() = default;
  ExprMutator(const ExprMutator&) = delete;
  ExprMutator& operator=(const ExprMutator&) = delete;

  virtual const PrimExpr* VisitExpr(const PrimExpr* expr);

 protected:
#define IROPT_HANDLE(Kind, Class) virtual const PrimExpr* Visit##Class(const Class* expr);
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_PRIM_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
  // Called for all binary operations unless their own function is overridden.
  virtual const PrimExpr* VisitBinary(const BinaryExpr* expr);
  // The variable that replaces one that is introduced here. If it is another one, Remap the old one.
  virtual const Var* VisitVarDef(const Var* var) { return var; }
  // The buffer that replaces one that is read, written or named: the one that it was remapped to.
  virtual const Buffer* VisitBufferUse(const Buffer* buffer);
  virtual const IterVar* VisitIterVar(const IterVar* iter_var);
  virtual const Range* VisitRange(const Range* range);
  virtual const CommReducer* VisitCommReducer(const CommReducer* reducer);
  virtual const DataProducer* VisitDataProducer(const DataProducer* producer);

  // From now on uses of the variable become the expression, uses of the buffer the other buffer.
  void Remap(const Var* from, const PrimExpr* to);
  void Remap(const Buffer* from, const Buffer* to);
  // The replacement, or null if it stays.
  const PrimExpr* RemapOf(const Var* var) const;
  const Buffer* RemapOf(const Buffer* buffer) const;

  Workspace& workspace() { return workspace_; }

 private:
  friend class StmtExprMutator;

  // A copy of the node with its fields visited, or the node itself if they stay.
  template <class X>
  const X* VisitFields(const X* node);
  // Replaces the field by its visited value; true if it changed.
  template <class T>
  bool VisitField(FieldRole role, T& value);

  Workspace& workspace_;
  VarMap<Node> remap_;
  std::unordered_map<const Var*, const PrimExpr*> sym_var_remap_;
};

struct MutatorOptions {
  // T.evaluate(0), which does nothing, is removed from sequences.
  bool drop_no_ops = false;
  // The shapes, strides, offsets and data variables of buffers are visited: a buffer in which something is replaced
  // becomes another one, the same for all its uses. Each buffer is visited once.
  bool rewrite_buffers = false;
};
// Options of most passes that change loops and memory.
inline constexpr MutatorOptions kRewriteBuffers = {.drop_no_ops = true, .rewrite_buffers = true};
inline constexpr MutatorOptions kDropNoOps = {.drop_no_ops = true};

// Rewrites statements and their expressions; subclasses override the visits of the kinds that they change. Without the
// option rewrite_buffers, the shapes of buffers are not visited: to change single buffers, override VisitBufferDef and
// remap.
class StmtExprMutator : public ExprMutator {
 public:
  explicit StmtExprMutator(Workspace& workspace, MutatorOptions options = {})
      : ExprMutator(workspace), options_(options) {}
  using ExprMutator::VisitExpr;
  virtual const Stmt* VisitStmt(const Stmt* stmt);
  // Parameters, their buffers, the body. The type of the function stays.
  virtual const PrimFunc* VisitPrimFunc(const PrimFunc* func);

 protected:
#define IROPT_HANDLE(Kind, Class) virtual const Stmt* Visit##Class(const Class* stmt);
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_STMT_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
  // The buffer that replaces one that is introduced here. If it is another one, Remap the old one.
  virtual const Buffer* VisitBufferDef(const Buffer* buffer);
  const Buffer* VisitBufferUse(const Buffer* buffer) override;
  virtual const BufferRegion* VisitBufferRegion(const BufferRegion* region);
  virtual const MatchBufferRegion* VisitMatchBufferRegion(const MatchBufferRegion* match);
  // Annotations. Those that refer to variables of the function are rewritten with them.
  virtual const Attr* VisitAttr(const Attr* attr);

  // As tir::MakeSeq, for visited statements. A long sequence often grows from its end, when what it is nested in goes
  // away: if the last of the statements is the sequence that was made last, that costs amortized O(1) for each of the
  // others. `stmts` must not be empty.
  const Stmt* Sequence(std::span<const Stmt* const> stmts);
  bool IsLastSequence(const Stmt* stmt) const { return stmt == last_.seq; }
  // The buffer with its parts visited, see MutatorOptions::rewrite_buffers.
  const Buffer* RewriteBuffer(const Buffer* buffer);

 private:
  const Stmt* VisitAndDropNoOps(const SeqStmt* stmt);
  template <class X>
  const X* VisitStmtFields(const X* node);
  template <class T>
  bool VisitStmtField(FieldRole role, T& value);
  const Node* VisitAttrNode(const Node* node);

  // The sequence that was made last, at the end of memory that may have room in front of it.
  struct GrowingSeq {
    const SeqStmt* seq = nullptr;
    std::span<const Stmt*> memory = {};
    size_t begin = 0;
  };
  GrowingSeq last_;
  const MutatorOptions options_;
  VarMap<Buffer> visited_buffers_;  // with the option to rewrite buffers
};

// A sequence without sequences in it, or the statement itself if there is only one. `stmts` must not be empty.
const Stmt* MakeSeq(Workspace& workspace, std::span<const Stmt* const> stmts);
// Makes a sequence without sequences and without T.evaluate(0) in it; T.evaluate(0) if nothing remains.
const Stmt* MakeFlatSeq(Workspace& workspace, std::span<const Stmt* const> stmts);

// T.evaluate(0), the statement that does nothing.
const Stmt* NoOp(Workspace& workspace);
bool IsNoOp(const Stmt* stmt);
// Returns whether it is a sequence with T.evaluate(0) in it.
bool HasNoOps(const Stmt* stmt);

// The function with this body; the same pointer if it has it already.
const PrimFunc* WithBody(const PrimFunc* func, const Stmt* body, Workspace& workspace);

}  // namespace iropt::tir
