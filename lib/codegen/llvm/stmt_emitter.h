// Generates code for the statements of a function, in the order in which the interpreter runs them.
#pragma once

#include <functional>
#include <unordered_set>

#include "expr_emitter.h"

namespace iropt::codegen {

class StmtEmitter {
 public:
  // `constants` are the arrays of CallGraph::constants, by their numbers.
  StmtEmitter(ExprEmitter& exprs, const std::vector<const NDArray*>& constants)
      : exprs_(exprs), frame_(exprs.frame()), constants_(constants) {}

  // The body of a function, whose result, if it has one, is stored to `result`.
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
  // The body of a block whose axes have their values; `with_init` is false where it was initialized before.
  void EmitBlock(const tir::Block& block, bool with_init, size_t allocated = 0);
  void BindAxes(const tir::BlockRealize& realize);
  llvm::Value* IsFirstReduction(const tir::Block& block);
  // Memory for `count` elements, bound to the pointer while the body runs.
  void WithMemory(const tir::Var* data, llvm::Value* count, DataType dtype, FunctionRef<void()> body);
  // A few elements lie on the stack, where `mark` is null.
  TypedValue NewMemory(llvm::Value* count, DataType dtype, llvm::Value** mark);
  llvm::Value* CountOf(const tir::Buffer& buffer);
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
  // Runs the threads of an axis, together where they wait for each other.
  void EmitAxis(const LoopRange& range, std::string_view thread_tag, const tir::Stmt* body);
  // Initializes what the loop reduces into before the loop where that is the same. The block that was initialized is
  // returned, or null.
  const tir::Block* InitializeBefore(const tir::For& loop);

  // ---- Parallel loops (parallel.cpp)
  // False where the loop must run in order, and no code was made.
  bool EmitParallel(const tir::For& loop, const LoopRange& range);
  struct Captures;
  void CollectCaptures(const tir::For& loop, Captures& captures);
  llvm::Function* EmitTask(const tir::For& loop, const LoopRange& range, const Captures& captures);
  llvm::Function* EmitThunk(llvm::Function* task, const Captures& captures);

  // ---- Threads that run together (threads.cpp)
  bool IsWaiting(const tir::Stmt* stmt);
  void EmitSpread(const LoopRange& range, const tir::Stmt* body);
  void EmitTogether(const tir::Stmt* stmt);
  void EmitReleasing(const tir::Stmt* body);
  void EmitNodeTogether(const tir::Stmt* stmt);
  void EmitForTogether(const tir::For& loop);
  void EmitAttrTogether(const tir::AttrStmt& attr);
  void EmitIfTogether(const tir::IfThenElse& branch);
  void EmitBlockTogether(const tir::BlockRealize& realize);
  void EmitEvaluateTogether(const tir::Evaluate& evaluate);
  void EmitAllreduce(const tir::Call& call);
  // body for each thread, with what it has of its own.
  void ForEachThread(FunctionRef<void()> body);
  // The same of the threads of some axes, the others being bound.
  void ForThreads(llvm::ArrayRef<const LoopRange*> axes, FunctionRef<void()> body);
  // Gives each thread a variable of its own.
  void BindOwn(const tir::Var* var, DataType dtype, FunctionRef<llvm::Value*()> value);
  // Evaluates an integer that must be the same in all threads.
  llvm::Value* EmitUniform(const PrimExpr* expr);
  // Memory for a buffer: each thread's own where it is local, else one for all.
  void AllocateTogether(const tir::Var* data, llvm::Value* count, DataType dtype);
  // Gives each thread copies of the local memory that was allocated around it.
  void SpreadLocalMemory();
  // Memory of `bytes` for each thread.
  llvm::Value* AllocateOwn(llvm::Value* bytes);
  llvm::Value* CountThreads();
  // The number of the thread that is running, among those of the outermost axes.
  llvm::Value* ThreadIndex(size_t axes);

  ExprEmitter& exprs_;
  Frame& frame_;
  const std::vector<const NDArray*>& constants_;
  const tir::Stmt* body_ = nullptr;
  llvm::Value* result_ = nullptr;
  uint64_t stack_bytes_ = 0;
  bool in_parallel_ = false;
  std::unordered_set<const tir::Block*> initialized_;  // blocks that the loops around have initialized
  // Statements with threads that wait for each other below; filled when threads are first met.
  std::unordered_set<const tir::Stmt*> waiting_;
  bool waiting_known_ = false;
  std::vector<LoopRange> threads_;                  // the axes that run together, the outermost first
  std::vector<std::function<void()>> own_;          // binds what the thread that is running has of its own
  std::vector<const tir::Var*> local_memory_;       // that is allocated at present
  std::vector<const tir::CommReducer*> combiners_;  // of reductions over threads, the innermost last
};

}  // namespace iropt::codegen
