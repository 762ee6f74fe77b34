// Scalar expressions that read memory: pointers, buffers, and the memory of threads.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "iropt/eval/tir/loop_facts.h"
#include "iropt/eval/tir/prim_func.h"
#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/eval/tir/thread_plan.h"
#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/tir/stmt.h"
#include "memory.h"
#include "race_detector.h"
#include "thread_copies.h"

namespace iropt::eval {

inline Scalar MakePointer(uint64_t address) { return Scalar::Int(static_cast<int64_t>(address), DataType::Handle()); }
inline uint64_t AddressIn(const Scalar& pointer) { return static_cast<uint64_t>(pointer.integer); }

// The shared state of all functions of one run.
struct ExecutionState {
  EvalLimits limits;
  uint64_t available_work = limits.AvailableWork();
  uint64_t work_left = available_work;
  const Module* module = nullptr;  // for functions to call; null: none
  PackedCaller packed = nullptr;   // for packed functions; null: none
  int depth = 0;                   // of calls
  int thread_axes = 0;             // whose threads are running
  LoopFacts* facts = nullptr;      // null: nothing is looked for
  RaceDetector* races = nullptr;   // null with `facts`
  AddressSpace addresses = {};
};

// The layout of a buffer in memory; in elements of its dtype.
struct BufferView {
  bool known = false;
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::vector<int64_t> mins;  // the first index in each dimension; empty: 0
};

// The memory that a thread knows.
struct ThreadState {
  std::vector<Pointer> pointers;  // by the id of the pointer variable
  std::vector<BufferView> views;  // by the id of the buffer
  ThreadPositions positions;      // on the axes of loops, from the outside in
  std::vector<std::shared_ptr<ThreadCopies>> copies;
  uint32_t number = 0;  // of the thread for the race detector

  // The position on the axis with this tag if it is bound; else null. Axes of the tag "vthread" are all different.
  const ThreadPosition* Find(std::string_view tag) const {
    const auto found = std::find_if(positions.rbegin(), positions.rend(),
                                    [&](const ThreadPosition& position) { return position.tag == tag; });
    return found == positions.rend() || tag == "vthread" ? nullptr : &*found;
  }
};

// Gives a thread its number, if there is a race detector.
void NumberThread(const ExecutionState& execution, ThreadState& thread);

using OwnedMemory = std::vector<std::shared_ptr<Storage>>;

class BufferEvaluator : public ScalarEvaluator {
 public:
  explicit BufferEvaluator(ExecutionState& execution) : execution_(execution) {
    if (!execution.facts) return;
    WatchOverflow(&execution.facts->overflows);
    WatchBranches(execution.facts->branches);
  }
  BufferEvaluator(const BufferEvaluator&) = delete;
  BufferEvaluator& operator=(const BufferEvaluator&) = delete;
  ~BufferEvaluator() override;

  // Binds a buffer parameter to the memory of a tensor: variables among its dimensions take the tensor's, others must
  // agree. Only views of storage can be writable.
  bool BindParam(const tir::Buffer& buffer, const NDArray& tensor, bool writable);
  // Binds an opaque pointer to a descriptor of the tensor, as packed functions get it.
  bool BindParam(const tir::Var* param, const NDArray& tensor, bool writable);
  // Binds a parameter to a number or a pointer; with a buffer, to a tensor descriptor or to the memory of the elements.
  bool BindParam(const tir::Var* param, const tir::Buffer* buffer, const Scalar& value);

 protected:
  bool Load(const tir::BufferLoad& load, int lane, Scalar* result) override;
  bool Step() override;
  bool StepsOfMemory(int64_t bytes);

  bool StoreLane(const tir::BufferStore& store, int lane, const Scalar& value);
  bool ForgetLane(const tir::BufferStore& store, int lane);

  // ---- Memory

  // Gives the current thread new memory for the pointer variable, with copies for the threads of inner loops.
  bool Allocate(const tir::Var* data, int64_t count, DataType dtype, OwnedMemory* owned);
  // Memory and its marks; null after an error.
  std::shared_ptr<Storage> NewMemory(int64_t elements, DataType dtype, Memory* memory);
  Pointer PointerOf(const tir::Var* data);
  void SetPointer(const tir::Var* data, const Pointer& place);
  void SetMemory(const tir::Var* data, const Memory& memory);
  // Ends the life of memory and of its pointer variable.
  void DropMemory(const tir::Var* data);
  bool ReadInts(uint64_t address, int64_t count, std::vector<int64_t>* values);
  // Another block of threads starts: its shared memory has no values.
  bool ForgetSharedMemory();
  // Points the pointer variables of all memory with copies to those of the current thread.
  void BindCopies();

  // ---- Buffers

  // Computes the view of a buffer when its dimensions have values.
  bool Declare(const tir::Buffer& buffer);
  BufferView& ViewOf(const tir::Buffer& buffer);
  // Those of the memory for the buffer, with the padding by strides.
  bool CountElements(const tir::Buffer& buffer, int64_t* count);
  bool EvalExtents(List<const PrimExpr*> exprs, std::vector<int64_t>* extents, int64_t* count);
  bool MatchBuffers(const tir::Block& block);

  // The position of an element.
  struct ElementAddress {
    Pointer pointer;  // to the memory of the buffer
    int64_t at = 0;   // in bytes from the beginning of the memory
  };
  // With `bounded`, an index out of range is an error.
  bool Locate(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lane, bool bounded,
              ElementAddress* element);
  bool LoadAt(const ElementAddress& element, DataType dtype, std::string_view name, Scalar* result);
  bool StoreAt(const ElementAddress& element, const Scalar& value, std::string_view name);
  // Tell the race detector of accesses that are about to happen.
  void NoteLoad(const ElementAddress& element, const tir::BufferLoad& load);
  void NoteStore(const ElementAddress& element, const tir::BufferStore& store, const Scalar& value);

  ExecutionState& execution_;
  ThreadState thread_;  // of the current thread
  ThreadPlan plan_;
  std::vector<const tir::Var*> shared_memory_;  // that threads of a block share, and that is allocated
  OwnedMemory owned_;                           // marks of parameters, shapes on the stack
  std::vector<uint64_t> mapped_;                // addresses that end with the call

 private:
  bool AllocateCopies(const tir::Var* data, const ThreadMemory& layout, int64_t count, DataType dtype);
  bool CountThreads(const tir::Var* data, const ThreadMemory::Axis& axis, int64_t* count);
  void DropCopies(const ThreadCopies& copies);
  // Declares the buffer with the shape, strides and offset given: variables of its own are bound to them.
  bool DeclareAs(const tir::Buffer& buffer, std::span<const int64_t> shape, std::span<const int64_t> strides,
                 int64_t offset);
  bool ResolveView(const tir::Buffer& buffer, BufferView* view);
  bool BindArray(const tir::Buffer& buffer, const ArrayRecord& array);
  // Binds a variable without a value to `actual`; anything else must be equal to it.
  bool Match(const PrimExpr* expr, int64_t actual, std::string_view what);
  bool EvalInts(List<const PrimExpr*> exprs, std::vector<int64_t>* values);
  bool MatchBuffer(const tir::MatchBufferRegion& match);
};

}  // namespace iropt::eval
