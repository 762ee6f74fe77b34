// The thread axes around a statement, and the local memory of threads: copies for the threads whose loops are inside of
// its allocation. See thread_memory.h.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "iropt/eval/tir/thread_plan.h"
#include "loop_emitter.h"
#include "scope.h"

namespace iropt::codegen {

struct ThreadPlace {
  std::string_view tag;
  LoopRange range;
};

// As in the interpreter: the copies for a set of bound axes are one after the other, the last axis varies fastest.
struct ThreadCopies {
  const ThreadMemory* layout = nullptr;
  const tir::Var* data = nullptr;
  size_t depth = 0;                   // the number of thread axes around the allocation
  llvm::Value* size = nullptr;        // of a copy, in bytes
  std::vector<llvm::Value*> threads;  // by axis
  std::vector<llvm::Value*> counts;   // of copies, by place
  std::vector<llvm::Value*> memory;   // by place; for the current thread if threads in lockstep have allocated it
};

class ThreadMemoryEmitter {
 public:
  ThreadMemoryEmitter(ExprEmitter& exprs, ThreadPlan& plan) : exprs_(exprs), plan_(plan) {}

  // ---- Thread axes
  void Enter(std::string_view tag, const LoopRange& range) { places_.push_back({tag, range}); }
  void Leave() { places_.pop_back(); }
  // The innermost axis with the tag around; null if there is none. Axes of the tag "vthread" are all different.
  const ThreadPlace* FindPlace(std::string_view tag) const;
  // Null if the variable is not that of an axis around.
  const ThreadPlace* FindPlace(const tir::Var* var) const;

  // ---- Memory in scope: what was added since a mark leaves with Rewind
  struct Mark {
    size_t copies, local;
  };
  Mark mark() const { return {copies_.size(), local_.size()}; }
  void Rewind(Mark mark) {
    copies_.resize(mark.copies);
    local_.resize(mark.local);
  }
  const std::vector<const tir::Var*>& local() const { return local_; }
  void AddLocal(const tir::Var* data) { local_.push_back(data); }

  // ---- Copies
  using CopiesRef = std::shared_ptr<ThreadCopies>;
  bool has_copies() const { return !copies_.empty(); }
  // The numbers of threads, and of copies of `count` elements; the memory of the copies is not allocated yet. The
  // values of expressions are those of `eval`.
  CopiesRef MakeCopies(const tir::Var* data, llvm::Value* count, DataType dtype,
                       FunctionRef<llvm::Value*(const PrimExpr*)> eval);
  void AddCopies(CopiesRef copies) { copies_.push_back(std::move(copies)); }
  void WithCopies(const tir::Var* data, llvm::Value* count, DataType dtype, FunctionRef<void()> body);
  // Binds pointer variables to the copies of the current thread.
  void BindCopies(const ThreadCopies& copies, bool is_new);
  // The outermost ones that are in scope.
  void BindCopies(size_t count);
  void BindAllCopies() { BindCopies(copies_.size()); }

 private:
  llvm::Value* CountThreads(const tir::Var* data, const ThreadMemory::Axis& axis,
                            FunctionRef<llvm::Value*(const PrimExpr*)> eval);

  ExprEmitter& exprs_;
  ThreadPlan& plan_;
  std::vector<ThreadPlace> places_;     // outermost first
  std::vector<CopiesRef> copies_;       // in scope
  std::vector<const tir::Var*> local_;  // the local buffers in scope
};

}  // namespace iropt::codegen
