// The order in which the threads of a PrimFunc run, in the interpreter and in generated code.
//
// The threads of a block run in lockstep: all of them execute a statement before the first executes the next. This is
// one of the orders that a device may choose if the threads exchange values around barriers only. Where no thread can
// access what another one stores, each runs to its end before the next, which is faster and gives the same result.
// Control flow around a barrier must be uniform; elsewhere, threads may take different ways.
//
// A loop over an axis that an outer loop binds is for the thread at the same position: it is executed once.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "iropt/eval/tir/thread_memory.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

// The most threads that may run in lockstep: more than devices have in a block.
inline constexpr int64_t kMaxLockstepThreads = 4096;

// Returns whether the attribute changes what its body does, in a way that neither of the two knows. Other attributes
// are hints for code generators.
bool IsUnknownAttribute(const tir::AttrStmt& attr);

class ThreadPlan {
 public:
  ThreadPlan() = default;
  explicit ThreadPlan(const tir::Stmt* body) : body_(body) {}

  // Returns whether the statement has a barrier or a reduction over threads, so that all threads must execute it.
  // O(nodes) once.
  bool Synchronizes(const tir::Stmt* stmt);
  // Returns whether the threads must execute the parts of the statement in lockstep: it synchronizes, or a thread may
  // access what another one stores in it. O(nodes) once.
  bool RunsInLockstep(const tir::Stmt* stmt);
  // The layout of memory of threads that has copies, or that threads share; else null. O(nodes) once.
  const ThreadMemory* LayoutOf(const tir::Var* data);
  // Returns whether each thread has a copy of the memory.
  bool HasCopies(const tir::Var* data);
  // Returns whether a block accumulates into the memory over threads.
  bool IsAccumulated(const tir::Var* data);

 private:
  const ThreadAccesses& Accesses();

  const tir::Stmt* body_ = nullptr;
  std::optional<LookupSet<const tir::Stmt*>> synchronizing_;
  std::optional<ThreadAccesses> accesses_;
};

// The axes of the layout that are bound where memory that was allocated at `depth` is accessed, as a bit mask.
// `positions` are the thread axes around the access, outermost first, with their tags; bind(axis, position) is called
// for those inside of the allocation. An inner loop over the same axis hides the outer one.
template <class Position, class F>
uint32_t BoundAxes(const ThreadMemory& layout, const std::vector<Position>& positions, size_t depth, F&& bind) {
  uint32_t bound = 0;
  for (size_t i = depth; i < positions.size(); ++i) {
    for (size_t axis = 0; axis < layout.axes.size(); ++axis) {
      if (layout.axes[axis].tag != positions[i].tag) continue;
      bound |= uint32_t{1} << axis;
      bind(axis, positions[i]);
      break;
    }
  }
  return bound;
}
inline bool HasAxis(uint32_t axes, size_t axis) { return (axes >> axis & 1) != 0; }

// T.tvm_thread_allreduce(number of values, values..., condition, results..., axes...): threads that differ only in the
// axes share a result.
struct ThreadReduction {
  const tir::CommReducer* combiner;
  std::span<const PrimExpr* const> values;
  const PrimExpr* condition;
  std::span<const PrimExpr* const> results;  // elements of buffers
  std::span<const PrimExpr* const> axes;

  // Nothing if the combiner is null or does not fit the call.
  static std::optional<ThreadReduction> Of(const tir::Call& call, const tir::CommReducer* combiner);
  bool IsOver(const tir::Var* axis) const;
};

// The effect of a call on threads in lockstep.
enum class LockstepCall : uint8_t {
  kReduction,
  kBarrier,
  kGridBarrier,  // of all blocks of threads, which do not run in lockstep
  kOther,
};
LockstepCall LockstepCallOf(const PrimExpr* value);

}  // namespace iropt
