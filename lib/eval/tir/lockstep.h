// Runs threads in lockstep: every thread executes a statement before the first executes the next. Threads may take
// different ways, but not around a barrier, as on a device.
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
  using Threads = std::vector<State*>;

  bool OwnLocalMemory(State& thread, std::string_view tag, OwnedMemory* owned, std::vector<uint64_t>* addresses);
  // Splits each thread into one for each value of the variable.
  bool Spread(const Threads& threads, std::string_view tag, const tir::Var* var, int64_t min, int64_t extent,
              const tir::Stmt* body);
  bool Exec(const tir::Stmt* stmt, const Threads& threads);
  bool ExecNode(const tir::Stmt* stmt, const Threads& threads);
  bool ExecFor(const tir::For& loop, const Threads& threads);
  // Runs the iterations of a loop, whose bounds are those of each thread.
  bool ExecLoop(const tir::Stmt& loop, const tir::Var* var, const std::vector<int64_t>& mins,
                const std::vector<int64_t>& extents, int64_t step, const tir::Stmt* body, const Threads& threads);
  // Runs `body` by the threads of an axis, which may be running already.
  bool ExecAxis(std::string_view tag, const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body,
                const Threads& threads);
  bool ExecAttr(const tir::AttrStmt& attr, const Threads& threads);
  bool ExecIf(const tir::IfThenElse& branch, const Threads& threads);
  bool ExecWhile(const tir::While& loop, const Threads& threads);
  bool ExecLet(const tir::LetStmt& let, const Threads& threads);
  bool ExecAllocate(const tir::Allocate& allocate, const Threads& threads);
  bool ExecBlock(const tir::BlockRealize& realize, const Threads& threads);
  bool ExecEvaluate(const tir::Evaluate& evaluate, const Threads& threads);
  bool Reduce(const tir::Call& call, const Threads& threads);
  bool ReduceGroup(const ThreadReduction& reduction, const Threads& group);
  // Calls f with the state of each of the threads.
  bool ForEach(const Threads& threads, FunctionRef<bool()> f);
  // Evaluates an integer in each of the threads.
  bool EvalInts(const PrimExpr* expr, const Threads& threads, std::vector<int64_t>* values);
  // Evaluates an integer that must be the same in all threads.
  bool EvalUniform(const PrimExpr* expr, const Threads& threads, int64_t* value);
  // The threads for which the condition on the index in `threads` holds. Fails if only some of them would execute a
  // statement with a barrier.
  bool Choose(const tir::Stmt& stmt, const Threads& threads, FunctionRef<bool(size_t)> condition, Threads* chosen);
  // Memory for a buffer: one for all threads that share it.
  bool AllocateFor(const Threads& threads, const tir::Var* data, int64_t count, DataType dtype, OwnedMemory* owned);
  void DropMemoryOf(const Threads& threads, const tir::Var* data);
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
