// Runs threads that synchronize: every thread executes a statement before the first executes the next. Their control
// flow (bounds of loops, conditions) must be uniform, as it must be on a device.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interpreter.h"
#include "iropt/support/function_ref.h"

namespace iropt::eval {

class Lockstep {
 public:
  explicit Lockstep(Interpreter& interpreter) : interpreter_(interpreter) {}

  // Runs `body` for the threads of an axis of the current thread.
  bool Run(std::string_view tag, const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body);

 private:
  // A thread that is not running.
  struct State {
    Interpreter::Variables variables;
    ThreadState memory;
  };
  using Threads = std::vector<std::unique_ptr<State>>;

  bool OwnLocalMemory(State& thread, std::string_view tag, OwnedMemory* owned, std::vector<uint64_t>* addresses);
  // Splits each thread into one for each value of the variable.
  bool Spread(Threads& threads, std::string_view tag, const tir::Var* var, int64_t min, int64_t extent,
              const tir::Stmt* body);
  bool Exec(const tir::Stmt* stmt, Threads& threads);
  bool ExecNode(const tir::Stmt* stmt, Threads& threads);
  bool ExecFor(const tir::For& loop, Threads& threads);
  bool ExecAttr(const tir::AttrStmt& attr, Threads& threads);
  bool ExecIf(const tir::IfThenElse& branch, Threads& threads);
  bool ExecWhile(const tir::While& loop, Threads& threads);
  bool ExecLet(const tir::LetStmt& let, Threads& threads);
  bool ExecAllocate(const tir::Allocate& allocate, Threads& threads);
  bool ExecBlock(const tir::BlockRealize& realize, Threads& threads);
  bool ExecEvaluate(const tir::Evaluate& evaluate, Threads& threads);
  bool Reduce(const tir::Call& call, Threads& threads);
  bool ReduceGroup(const ThreadReduction& reduction, const std::vector<State*>& group);
  // Calls f with the state of each of the threads.
  bool ForEach(Threads& threads, FunctionRef<bool()> f);
  // Evaluates a value that must be the same in all threads: an integer, or what eval() computes for a thread.
  bool EvalUniform(const PrimExpr* expr, Threads& threads, int64_t* value);
  bool EvalUniform(FunctionRef<bool(int64_t*)> eval, Threads& threads, int64_t* value);
  // Memory for a buffer: one per thread if it is local, else one for all.
  bool AllocateFor(Threads& threads, const tir::Var* data, int64_t count, DataType dtype, OwnedMemory* owned);
  void DropMemoryOf(Threads& threads, const tir::Var* data);
  // Makes the thread the current one, and the current one `state`.
  void Swap(State& state);
  bool Fail(std::string message, ErrorCode code = ErrorCode::SemanticCheck) {
    return interpreter_.Fail(std::move(message), code);
  }

  Interpreter& interpreter_;
  std::vector<const tir::Var*> axes_;               // whose threads run in lockstep
  std::vector<const tir::CommReducer*> combiners_;  // of reductions over threads, the innermost last
};

}  // namespace iropt::eval
