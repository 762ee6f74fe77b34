// The interpreter of EvalPrimFunc. Each object runs one call of a function; called functions have their own, and share
// the execution state.
//
// Statements are run in interpreter.cpp, buffers are in interpreter_buffers.cpp, calls in interpreter_calls.cpp, and
// lockstep execution of threads in interpreter_threads.cpp, their memory in thread_copies.cpp.
#pragma once

#include <memory>
#include <unordered_set>

#include "iropt/eval/tir/prim_func.h"
#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/eval/tir/thread_memory.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/function_ref.h"
#include "memory.h"
#include "thread_copies.h"

namespace iropt::eval {

inline Scalar MakePointer(uint64_t address) { return Scalar::Int(static_cast<int64_t>(address), DataType::Handle()); }

// The shared state of all functions of one run.
struct ExecutionState {
  EvalLimits limits;
  uint64_t available_work = limits.AvailableWork();
  uint64_t work_left = available_work;
  const Module* module = nullptr;  // for functions to call; null: none
  PackedCaller packed = nullptr;   // for packed functions; null: none
  int depth = 0;                   // of calls
  int thread_axes = 0;             // whose threads are running
  AddressSpace addresses = {};
};

class Interpreter final : public ScalarEvaluator {
 public:
  explicit Interpreter(ExecutionState& execution) : execution_(execution) {}
  ~Interpreter() override;

  // Binds the variables among the dimensions of a buffer parameter to the shape of a tensor, unless they have a value.
  // Dimensions of other parameters may be computed from them.
  void BindSizes(const tir::Buffer& buffer, const NDArray& tensor);
  // Binds a buffer parameter to the memory of a tensor: variables among its dimensions take the tensor's, others must
  // agree. Only views of storage can be writable.
  bool BindParam(const tir::Buffer& buffer, const NDArray& tensor, bool writable);
  // Binds an opaque pointer to a descriptor of the tensor, as packed functions get it.
  bool BindParam(const tir::Var* param, const NDArray& tensor, bool writable);
  // Binds a parameter to a number or a pointer; with a buffer, to a tensor descriptor or to the memory of the elements.
  bool BindParam(const tir::Var* param, const tir::Buffer* buffer, const Scalar& value);
  bool Run(const PrimFunc& func);
  // The value of T.ret; 0 if there was none.
  const Scalar& returned() const { return result_; }

  // An intrinsic that is more than an operation on scalars.
  struct Builtin {
    OpId id;
    size_t arity;
    bool (Interpreter::*run)(const tir::Call& call, int lane, Scalar* result);
  };
  static constexpr size_t kAnyArity = SIZE_MAX;
  static const Builtin* FindBuiltin(const OpInfo& op);

 private:
  // The layout of a buffer in memory; in elements of its dtype.
  struct View {
    bool known = false;
    int64_t offset = 0;
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;
    std::vector<int64_t> mins;  // the first index in each dimension; empty: 0
  };
  using CopiesInScope = std::vector<std::shared_ptr<ThreadCopies>>;
  // The private state of a thread.
  struct State {
    Variables variables;
    std::vector<Pointer> pointers;  // by the id of the pointer variable
    std::vector<View> views;        // by the id of the buffer
    ThreadPositions positions;
    CopiesInScope copies;
  };
  using Threads = std::vector<std::unique_ptr<State>>;
  using OwnedMemory = std::vector<std::unique_ptr<std::byte[]>>;
  class MemoryScope;

  bool Load(const tir::BufferLoad& load, int lane, Scalar* result) override;
  bool CallFunction(const tir::Call& call, const GlobalVar& callee, Scalar* result) override;
  bool CallBuiltin(const tir::Call& call, std::string_view name, int lane, Scalar* result) override;
  bool Step() override;

  // ---- Statements

  bool Exec(const tir::Stmt* stmt);
  bool ExecNode(const tir::Stmt* stmt);
  bool ExecSeq(const tir::SeqStmt& seq);
  bool ExecLet(const tir::LetStmt& let);
  bool ExecAttr(const tir::AttrStmt& attr);
  bool ExecAssert(const tir::AssertStmt& assertion);
  bool ExecStore(const tir::BufferStore& store);
  bool StoreLane(const tir::BufferStore& store, int lane, const Scalar& value);
  bool ForgetLane(const tir::BufferStore& store, int lane);
  bool ExecAllocate(const tir::Allocate& allocate);
  bool ExecAllocateConst(const tir::AllocateConst& allocate);
  bool ExecRealize(const tir::BufferRealize& realize);
  bool ExecIf(const tir::IfThenElse& branch);
  bool ExecFor(const tir::For& loop);
  // With `is_thread`, the iterations are those of the innermost thread axis.
  bool ExecLoop(const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body, int64_t step = 1,
                bool is_thread = false);
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
  bool MatchBuffers(const tir::Block& block);
  bool Initialize(const tir::Block& block);
  bool AtFirstReduction(const tir::Block& block, bool* first);

  // ---- Threads that synchronize run in lockstep, statement by statement.

  // Runs the threads of an axis: in sequence if they do not synchronize.
  bool ExecAxis(std::string_view thread_tag, const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body,
                int64_t step = 1);
  bool Synchronizes(const tir::Stmt* stmt);
  bool ExecThreads(std::string_view tag, const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body);
  bool OwnLocalMemory(State& thread, std::string_view tag, OwnedMemory* owned, std::vector<uint64_t>* addresses);
  bool ExecSpread(Threads& threads, std::string_view tag, const tir::Var* var, int64_t min, int64_t extent,
                  const tir::Stmt* body);
  bool ExecLockstep(const tir::Stmt* stmt, Threads& threads);
  bool ExecNodeLockstep(const tir::Stmt* stmt, Threads& threads);
  bool ExecForLockstep(const tir::For& loop, Threads& threads);
  bool ExecAttrLockstep(const tir::AttrStmt& attr, Threads& threads);
  bool ExecIfLockstep(const tir::IfThenElse& branch, Threads& threads);
  bool ExecWhileLockstep(const tir::While& loop, Threads& threads);
  bool ExecLetLockstep(const tir::LetStmt& let, Threads& threads);
  bool ExecAllocateLockstep(const tir::Allocate& allocate, Threads& threads);
  bool ExecBlockLockstep(const tir::BlockRealize& realize, Threads& threads);
  bool ExecEvaluateLockstep(const tir::Evaluate& evaluate, Threads& threads);
  bool ReduceLockstep(const tir::Call& call, Threads& threads);
  bool ReduceGroup(const tir::Call& call, size_t width, const std::vector<State*>& group);
  // Calls f with the state of each of the threads.
  bool ForEach(Threads& threads, FunctionRef<bool()> f);
  // Evaluates an integer that must be the same in all threads.
  bool EvalUniform(const PrimExpr* expr, Threads& threads, int64_t* value);
  // Memory for a buffer: one per thread if it is local, else one for all.
  bool AllocateFor(Threads& threads, const tir::Var* data, int64_t count, DataType dtype, OwnedMemory* owned);
  void DropMemoryOf(Threads& threads, const tir::Var* data);
  void Swap(State& state);

  // ---- Buffers

  bool MatchBuffer(const tir::MatchBufferRegion& match);
  // Computes the view of a buffer when its dimensions have values.
  bool Declare(const tir::Buffer& buffer);
  // The same with the shape, strides and offset given: variables among them are bound.
  bool DeclareAs(const tir::Buffer& buffer, std::span<const int64_t> shape, std::span<const int64_t> strides,
                 int64_t offset);
  bool ResolveView(const tir::Buffer& buffer, View* view);
  View& ViewOf(const tir::Buffer& buffer);
  // Those of the memory for the buffer, with the padding by strides.
  bool CountElements(const tir::Buffer& buffer, int64_t* count);
  bool BindArray(const tir::Buffer& buffer, const ArrayRecord& array);
  // Binds a variable without a value to `actual`; anything else must be equal to it.
  bool Match(const PrimExpr* expr, int64_t actual, std::string_view what);
  bool EvalInts(List<const PrimExpr*> exprs, std::vector<int64_t>* values);
  bool EvalExtents(List<const PrimExpr*> exprs, std::vector<int64_t>* extents, int64_t* count);

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

  // ---- Memory of threads (thread_copies.cpp)

  // The layout of memory that has copies, or that threads share; else null.
  const ThreadMemory* LayoutOf(const tir::Var* data);
  // Gives the current thread new memory for the pointer variable, with copies for the threads of inner loops.
  bool Allocate(const tir::Var* data, int64_t count, DataType dtype, OwnedMemory* owned);
  bool AllocateCopies(const tir::Var* data, const ThreadMemory& layout, int64_t count, DataType dtype);
  bool CountThreads(const tir::Var* data, const ThreadMemory::Axis& axis, int64_t* count);
  void DropCopies(const ThreadCopies& copies);
  // Points the pointer variables of all memory with copies to those of the current thread.
  void BindCopies();
  // What the current thread has stored goes to the copies of the threads for which it has been executed, too.
  bool StoreToCopies(const ElementAddress& element, int64_t bytes);

  // Memory and its marks; null after an error.
  std::unique_ptr<std::byte[]> NewMemory(int64_t elements, DataType dtype, Memory* memory);
  Pointer PointerOf(const tir::Var* data);
  void SetPointer(const tir::Var* data, const Pointer& place);
  void SetMemory(const tir::Var* data, const Memory& memory);
  // Ends the life of memory and of its pointer variable.
  void DropMemory(const tir::Var* data);

  // ---- Calls

  bool EvalAccessPtr(const tir::Call& call, int lane, Scalar* result);
  bool EvalAddressOf(const tir::Call& call, int lane, Scalar* result);
  bool EvalAtomicAdd(const tir::Call& call, int lane, Scalar* result);
  bool EvalCallPacked(const tir::Call& call, int lane, Scalar* result);
  bool EvalHint(const tir::Call& call, int lane, Scalar* result);
  bool EvalIsNull(const tir::Call& call, int lane, Scalar* result);
  bool EvalMakeArray(const tir::Call& call, int lane, Scalar* result);
  bool EvalMakeShape(const tir::Call& call, int lane, Scalar* result);
  bool EvalOnlyStatement(const tir::Call& call, int lane, Scalar* result);
  bool EvalStructGet(const tir::Call& call, int lane, Scalar* result);
  bool EvalSync(const tir::Call& call, int lane, Scalar* result);
  bool EvalUndef(const tir::Call& call, int lane, Scalar* result);
  // The argument of a packed function.
  bool EvalPackedArg(const PrimExpr* arg, HostValue* value);
  bool MakeTensor(const ArrayRecord& array, HostValue* value);
  bool ReadInts(uint64_t address, int64_t count, std::vector<int64_t>* values);

  ExecutionState& execution_;
  const tir::Stmt* body_ = nullptr;
  bool returned_ = false;  // T.ret has ended the function
  // T.break_loop or T.continue_loop is on its way out to the loop.
  AfterBody jump_ = AfterBody::kFail;
  Scalar result_ = Scalar::Int(0);
  OwnedMemory owned_;                 // marks of parameters, shapes on the stack
  std::vector<uint64_t> mapped_;      // addresses that end with the call
  std::vector<Pointer> pointers_;     // by the id of the pointer variable
  std::vector<View> views_;           // by the id of the buffer
  std::vector<int64_t> axis_values_;  // a stack: values of the axes of blocks that are being entered
  // Statements that contain synchronization of threads; filled at the first thread axis.
  std::unordered_set<const tir::Stmt*> synchronizing_;
  bool synchronizing_known_ = false;
  // The layouts of local memory; filled at its first allocation.
  std::unordered_map<const tir::Var*, ThreadMemory> thread_memory_;
  bool thread_memory_known_ = false;
  ThreadPositions positions_;  // of the current thread, on the axes of loops from the outside in
  CopiesInScope copies_;
  std::vector<const tir::Var*> lockstep_axes_;      // axes whose threads run in lockstep
  std::vector<const tir::CommReducer*> combiners_;  // of reductions over threads, the innermost last
};

}  // namespace iropt::eval
