// Generates code for statements, in the execution order of the interpreter.
#pragma once

#include <functional>
#include <unordered_set>

#include "expr_emitter.h"
#include "iropt/eval/tir/thread_plan.h"

namespace iropt::codegen {

class StmtEmitter {
 public:
  // `constants` maps the arrays of CallGraph::constants to their indices.
  StmtEmitter(ExprEmitter& exprs, const std::vector<const NDArray*>& constants)
      : exprs_(exprs), frame_(exprs.frame()), constants_(constants) {}

  // Generates the body of a function. The value of T.ret is stored to `result`.
  void EmitBody(const tir::Stmt* body, llvm::Value* result);
  void Emit(const tir::Stmt* stmt);

 private:
  llvm::IRBuilder<>& b() { return frame_.b(); }
  void EmitNode(const tir::Stmt* stmt);
  void EmitLet(const tir::LetStmt& let);
  void EmitAttr(const tir::AttrStmt& attr);
  void EmitAssert(const tir::AssertStmt& assertion);
  void EmitAllocate(const tir::Allocate& allocate);
  void EmitAllocateConst(const tir::AllocateConst& allocate);
  void EmitRealize(const tir::BufferRealize& realize);
  void EmitIf(const tir::IfThenElse& branch);
  void EmitEvaluate(const tir::Evaluate& evaluate);
  void EmitBlockRealize(const tir::BlockRealize& realize);
  // Generates the body of a block whose axes are bound; `with_init` is false if its initialization was hoisted.
  void EmitBlock(const tir::Block& block, bool with_init, size_t allocated = 0);
  void BindAxes(const tir::BlockRealize& realize);
  llvm::Value* IsFirstReduction(const tir::Block& block);
  // Allocates memory for `count` elements, which the pointer refers to in the body.
  void WithMemory(const tir::Var* data, llvm::Value* count, DataType dtype, FunctionRef<void()> body);
  // Small buffers are on the stack; `mark` is null for them.
  TypedValue NewMemory(llvm::Value* count, DataType dtype, llvm::Value** mark);
  // The number of elements of the memory for the buffer is their product.
  static std::vector<const PrimExpr*> MemoryExtents(const tir::Buffer& buffer);
  void DeclareAllocated(const tir::Buffer& buffer);
  void MatchAnew(const tir::MatchBufferRegion& match);

  // ---- Loops (loops.cpp)
  struct LoopRange {
    const tir::Var* var;
    llvm::Value* min;     // of 64 bits
    llvm::Value* extent;  // of 64 bits
    const PrimExpr* min_expr;
    const PrimExpr* extent_expr;
  };
  LoopRange RangeOf(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent);
  void EmitFor(const tir::For& loop);
  void EmitLoop(const LoopRange& range, LoopHint hint, FunctionRef<void()> body);
  bool FitsVariable(const LoopRange& range);
  void BindLoopVar(const LoopRange& range, llvm::Value* i);
  // Generates the loop over a thread axis, in lockstep if the threads synchronize.
  void EmitAxis(const LoopRange& range, std::string_view thread_tag, const tir::Stmt* body);
  // Hoists the initialization of a reduction out of the loop if possible. Returns the block, or null.
  const tir::Block* InitializeBefore(const tir::For& loop);

  // ---- Parallel loops (parallel.cpp)
  // Returns false, without generating code, if the loop must run sequentially.
  bool EmitParallel(const tir::For& loop, const LoopRange& range);
  struct Captures;
  void CollectCaptures(const tir::For& loop, Captures& captures);
  llvm::Function* EmitTask(const tir::For& loop, const LoopRange& range, const Captures& captures);
  llvm::Function* EmitThunk(llvm::Function* task, const Captures& captures);

  // ---- Lockstep execution of threads (threads.cpp)
  // Returns the value that each thread has stored; with an argument, stores it first.
  using OwnInts = std::function<llvm::Value*(llvm::Value* stored)>;
  // What the current thread needs: a binding, or a condition without which it does not run.
  struct OwnState {
    std::function<void()> bind;
    std::function<llvm::Value*()> is_active;
  };
  void EmitLockstepAxis(const LoopRange& range, std::string_view thread_tag, const tir::Stmt* body);
  void EmitLockstepWhile(const tir::While& loop);
  void BindForEach(std::function<void()> bind) { own_.push_back({std::move(bind), nullptr}); }
  // Runs body with the state of the current thread from `begin` on.
  void WithOwn(size_t begin, FunctionRef<void()> body);
  OwnInts StoreOwn(FunctionRef<llvm::Value*()> value);
  // Runs body in the threads where the value is not 0, or is 0.
  void WhereActive(const OwnInts& value, bool expected, FunctionRef<void()> body);
  void EmitSpread(const LoopRange& range, std::string_view thread_tag, const tir::Stmt* body);
  void EmitLockstep(const tir::Stmt* stmt);
  void EmitReleasing(const tir::Stmt* body);
  void EmitLockstepNode(const tir::Stmt* stmt);
  void EmitLockstepFor(const tir::For& loop);
  void EmitLockstepAttr(const tir::AttrStmt& attr);
  void EmitLockstepIf(const tir::IfThenElse& branch);
  void EmitLockstepBlock(const tir::BlockRealize& realize);
  void EmitLockstepEvaluate(const tir::Evaluate& evaluate);
  void EmitAllreduce(const tir::Call& call);
  // Runs body for each thread, with its local variables and memory bound.
  void ForEachThread(FunctionRef<void()> body);
  // Runs body for each thread of some axes; the other axes are bound.
  void ForThreads(llvm::ArrayRef<const LoopRange*> axes, FunctionRef<void()> body);
  // Binds a variable that has a value per thread.
  void BindOwn(const tir::Var* var, DataType dtype, FunctionRef<llvm::Value*()> value);
  // Evaluates a uniform integer; the generated code fails if threads disagree.
  llvm::Value* EmitUniform(const PrimExpr* expr);
  // Allocates a buffer: one per thread if it is local, else a shared one.
  void AllocateLockstep(const tir::Var* data, llvm::Value* count, DataType dtype);
  // Makes per-thread copies of local memory that is allocated around the threads of an axis, and that has none.
  void SpreadLocalMemory(std::string_view thread_tag);
  // Allocates `bytes` per thread.
  llvm::Value* AllocateOwn(llvm::Value* bytes);
  llvm::Value* CountThreads();
  // The index of the current thread, or of its warp, within the outermost axes.
  llvm::Value* ThreadIndex(size_t axes, bool of_warp = false);

  // ---- Memory of threads (thread_copies.cpp)
  struct ThreadCopies;
  struct ThreadPlace {
    std::string_view tag;
    LoopRange range;
  };
  // The numbers of threads, and of copies of `count` elements; the memory of the copies is not allocated yet. The
  // values of expressions are those of `eval`.
  std::shared_ptr<ThreadCopies> MakeCopies(const tir::Var* data, llvm::Value* count, DataType dtype,
                                           FunctionRef<llvm::Value*(const PrimExpr*)> eval);
  llvm::Value* CountThreads(const tir::Var* data, const ThreadMemory::Axis& axis,
                            FunctionRef<llvm::Value*(const PrimExpr*)> eval);
  void WithCopies(const tir::Var* data, llvm::Value* count, DataType dtype, FunctionRef<void()> body);
  void AllocateCopiesLockstep(const tir::Var* data, llvm::Value* count, DataType dtype);
  // Binds pointer variables to the copies of the current thread.
  void BindCopies(const std::shared_ptr<ThreadCopies>& copies, bool is_new);
  void BindAllCopies();
  // The innermost axis with the tag around; null if there is none. Axes of the tag "vthread" are all different.
  const ThreadPlace* FindPlace(std::string_view tag) const;

  ExprEmitter& exprs_;
  Frame& frame_;
  const std::vector<const NDArray*>& constants_;
  llvm::Value* result_ = nullptr;
  uint64_t stack_bytes_ = 0;
  bool in_parallel_ = false;
  // Blocks whose initialization was hoisted out of an enclosing loop.
  std::unordered_set<const tir::Block*> initialized_;
  ThreadPlan plan_;
  std::vector<ThreadPlace> positions_;                 // the thread axes, outermost first
  std::vector<std::shared_ptr<ThreadCopies>> copies_;  // in scope
  std::vector<LoopRange> threads_;                     // the axes in lockstep, outermost first
  std::vector<OwnState> own_;                          // the local variables and memory of the current thread
  std::vector<const tir::Var*> local_memory_;          // the local buffers in scope
  std::vector<const tir::CommReducer*> combiners_;     // of reductions over threads, innermost last
};

}  // namespace iropt::codegen
