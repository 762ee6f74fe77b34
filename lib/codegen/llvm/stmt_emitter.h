// Generates code for statements, in the execution order of the interpreter.
#pragma once

#include "expr_emitter.h"
#include "iropt/eval/tir/thread_plan.h"
#include "lockstep_emitter.h"
#include "loop_emitter.h"
#include "reduction_init.h"
#include "thread_memory_emitter.h"

namespace iropt::codegen {

class StmtEmitter {
 public:
  // `constants` maps the arrays of CallGraph::constants to their indices.
  StmtEmitter(ExprEmitter& exprs, const std::vector<const NDArray*>& constants)
      : exprs_(exprs),
        frame_(exprs.frame()),
        constants_(constants),
        loops_(exprs),
        inits_(*this, exprs, loops_),
        memory_(exprs, plan_),
        lockstep_(*this, exprs, loops_, inits_, memory_, plan_) {}
  StmtEmitter(const StmtEmitter&) = delete;
  StmtEmitter& operator=(const StmtEmitter&) = delete;

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
  // Allocates memory for `count` elements, which the pointer refers to in the body.
  // `extents`: those whose product `count` is, if they are known.
  void WithMemory(const tir::Var* data, llvm::Value* count, DataType dtype, FunctionRef<void()> body,
                  List<const PrimExpr*> extents = {});
  // Small buffers are on the stack; `mark` is null for them.
  TypedValue NewMemory(llvm::Value* count, DataType dtype, llvm::Value** mark);

  // ---- Loops (loops.cpp)
  void EmitFor(const tir::For& loop);
  // Generates the loop over a thread axis, in lockstep if the threads synchronize.
  void EmitAxis(const LoopRange& range, std::string_view thread_tag, const tir::Stmt* body);

  // ---- Parallel loops (parallel.cpp)
  // Returns false, without generating code, if the loop must run sequentially.
  bool EmitParallel(const tir::For& loop, const LoopRange& range);
  struct Captures;
  void CollectCaptures(const tir::For& loop, Captures& captures);
  llvm::Function* EmitTask(const tir::For& loop, const LoopRange& range, const Captures& captures);
  llvm::Function* EmitThunk(llvm::Function* task, const Captures& captures);

  ExprEmitter& exprs_;
  Frame& frame_;
  const std::vector<const NDArray*>& constants_;
  llvm::Value* result_ = nullptr;
  DataType returned_;  // by the first T.ret
  uint64_t stack_bytes_ = 0;
  bool in_parallel_ = false;
  bool in_any_order_ = false;
  ThreadPlan plan_;
  LoopEmitter loops_;
  ReductionInit inits_;
  ThreadMemoryEmitter memory_;
  LockstepEmitter lockstep_;
};

}  // namespace iropt::codegen
