// The interpreter of EvalPrimFunc. Each object runs one call of a function; called functions have their own, and share
// the execution state.
//
// It consists of the evaluation of scalar expressions (scalar_eval.h), of memory and buffers (buffer_evaluator.h), of
// intrinsics (call_evaluator.h), and of statements, which are here. Threads that synchronize are run by Lockstep
// (lockstep.h).
#pragma once

#include "call_evaluator.h"
#include "iropt/ir/tir/reduction_nest.h"

namespace iropt::eval {

class Interpreter final : public CallEvaluator {
 public:
  using CallEvaluator::CallEvaluator;

  bool Run(const PrimFunc& func);
  // The value of T.ret; 0 if there was none.
  const Scalar& returned() const { return result_; }

 private:
  friend class Lockstep;
  class MemoryScope;

  // Tells the race detector, if there is one, of the execution of a loop.
  class ConcurrentLoop {
   public:
    ConcurrentLoop(ExecutionState& execution, const tir::Var* var, std::string_view thread_tag, bool is_concurrent)
        : races_(execution.races), is_concurrent_(is_concurrent), is_axis_(!thread_tag.empty()) {
      if (races_ && is_axis_) races_->EnterAxis();
      if (races_ && is_concurrent_) races_->EnterLoop(var, thread_tag);
    }
    ConcurrentLoop(ExecutionState& execution, const tir::Var* axis, std::string_view thread_tag)
        : ConcurrentLoop(execution, axis, thread_tag, RaceDetector::IsBlockAxis(thread_tag)) {}
    ConcurrentLoop(const ConcurrentLoop&) = delete;
    ConcurrentLoop& operator=(const ConcurrentLoop&) = delete;
    ~ConcurrentLoop() {
      if (races_ && is_concurrent_) races_->LeaveLoop();
      if (races_ && is_axis_) races_->LeaveAxis();
    }

   private:
    RaceDetector* races_;
    bool is_concurrent_;
    bool is_axis_;
  };

  bool CallFunction(const tir::Call& call, const GlobalVar& callee, Scalar* result) override;

  bool Exec(const tir::Stmt* stmt);
  bool ExecNode(const tir::Stmt* stmt);
  bool ExecSeq(const tir::SeqStmt& seq);
  bool ExecLet(const tir::LetStmt& let);
  bool ExecAttr(const tir::AttrStmt& attr);
  bool ExecAssert(const tir::AssertStmt& assertion);
  bool ExecStore(const tir::BufferStore& store);
  bool ExecAllocate(const tir::Allocate& allocate);
  bool ExecAllocateConst(const tir::AllocateConst& allocate);
  bool ExecRealize(const tir::BufferRealize& realize);
  bool ExecIf(const tir::IfThenElse& branch);
  bool ExecFor(const tir::For& loop);
  // Whether iterations are blocks of threads, or the threads of the innermost thread axis.
  enum class AxisKind : uint8_t { kNone, kBlocks, kThreads };
  bool ExecLoop(const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body, int64_t step, AxisKind kind);
  // Runs the threads of an axis, or the current one if the axis is bound.
  bool ExecAxis(std::string_view thread_tag, const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body,
                int64_t step = 1);
  bool EvalStep(const tir::For& loop, int64_t* step);
  // The effect on the current loop of a body that ended early.
  enum class AfterBody : uint8_t { kFail, kLeave, kNext };
  AfterBody TakeJump();
  bool ExecWhile(const tir::While& loop);
  bool ExecBlockRealize(const tir::BlockRealize& realize);
  bool ExecBlock(const tir::Block& block);
  bool ExecEvaluate(const tir::Evaluate& evaluate);
  bool BindLetStmt(const tir::LetStmt& let);
  bool CheckAssertion(const tir::AssertStmt& assertion);
  // Gives the axes of a block their values; `active` is whether its predicate holds.
  bool EnterBlock(const tir::BlockRealize& realize, bool* active);
  bool Initialize(const tir::Block& block);
  // Initializes the results of a reduction whose loop does not run.
  bool InitializeEmpty(const tir::For& loop);
  bool InitializeEmpty(const tir::ReductionNest& nest, size_t depth);
  bool IsInitialized(const tir::ReductionNest& nest, bool* result);
  bool AtFirstReduction(const tir::Block& block, bool* first);

  bool returned_ = false;  // T.ret has ended the function
  // T.break_loop or T.continue_loop is on its way out to the loop.
  AfterBody jump_ = AfterBody::kFail;
  Scalar result_ = Scalar::Int(0);
  std::vector<int64_t> axis_values_;  // a stack: values of the axes of blocks that are being entered
};

}  // namespace iropt::eval
