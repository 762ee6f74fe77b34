// Lockstep execution of threads: all threads finish a statement before any of them starts the next one. Each statement
// in which threads do not exchange values becomes a loop over all threads. Variables and local memory that live across
// statements are stored per thread. Control flow around a synchronization (loop bounds, conditions) must be uniform;
// elsewhere threads whose condition does not hold skip the statement.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "expr_emitter.h"
#include "reduction_init.h"
#include "thread_memory_emitter.h"

namespace iropt::codegen {

class StmtEmitter;

class LockstepEmitter {
 public:
  // `stmts` generates the statements of each thread.
  LockstepEmitter(StmtEmitter& stmts, ExprEmitter& exprs, LoopEmitter& loops, ReductionInit& inits,
                  ThreadMemoryEmitter& memory, ThreadPlan& plan)
      : stmts_(stmts),
        exprs_(exprs),
        frame_(exprs.frame()),
        loops_(loops),
        inits_(inits),
        memory_(memory),
        plan_(plan) {}

  // Runs the body by new threads.
  void EmitSpread(const LoopRange& range, std::string_view thread_tag, const tir::Stmt* body);
  bool is_running() const { return !threads_.empty(); }

 private:
  llvm::Value* StepOf(const tir::For& loop) { return loop.step ? exprs_.EmitInt(loop.step) : nullptr; }
  llvm::IRBuilder<>& b() { return frame_.b(); }
  // Returns the value that each thread has stored; with an argument, stores it first.
  using OwnInts = std::function<llvm::Value*(llvm::Value* stored)>;
  // What the current thread needs: a binding, or a condition without which it does not run.
  struct OwnState {
    std::function<void()> bind;
    std::function<llvm::Value*()> is_active;
  };
  void EmitAxis(const LoopRange& range, std::string_view thread_tag, const tir::Stmt* body);
  void EmitWhile(const tir::While& loop);
  void BindForEach(std::function<void()> bind) { own_.push_back({std::move(bind), nullptr}); }
  // Runs body with the state of the current thread from `begin` on.
  void WithOwn(size_t begin, FunctionRef<void()> body);
  OwnInts StoreOwn(FunctionRef<llvm::Value*()> value);
  // Runs body in the threads where the value is not 0, or is 0.
  void WhereActive(const OwnInts& value, bool expected, FunctionRef<void()> body);
  void Emit(const tir::Stmt* stmt);
  void EmitReleasing(const tir::Stmt* body);
  void EmitNode(const tir::Stmt* stmt);
  void EmitFor(const tir::For& loop);
  void EmitAttr(const tir::AttrStmt& attr);
  void EmitIf(const tir::IfThenElse& branch);
  void EmitBlock(const tir::BlockRealize& realize);
  void EmitEvaluate(const tir::Evaluate& evaluate);
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
  void Allocate(const tir::Var* data, llvm::Value* count, DataType dtype);
  // Makes per-thread copies of local memory that is allocated around the threads of an axis, and that has none.
  void SpreadLocalMemory(std::string_view thread_tag);
  // Allocates `bytes` per thread.
  llvm::Value* AllocateOwn(llvm::Value* bytes);
  void AllocateCopies(const tir::Var* data, llvm::Value* count, DataType dtype);
  llvm::Value* CountThreads();
  // The index of the current thread, or of its warp, within the outermost axes.
  llvm::Value* ThreadIndex(size_t axes, bool of_warp = false);

  StmtEmitter& stmts_;
  ExprEmitter& exprs_;
  Frame& frame_;
  LoopEmitter& loops_;
  ReductionInit& inits_;
  ThreadMemoryEmitter& memory_;
  ThreadPlan& plan_;
  std::vector<LoopRange> threads_;                  // the axes in lockstep, outermost first
  std::vector<OwnState> own_;                       // the local variables and memory of the current thread
  std::vector<const tir::CommReducer*> combiners_;  // of reductions over threads, innermost last
};

}  // namespace iropt::codegen
