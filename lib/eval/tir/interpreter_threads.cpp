// Threads of the interpreter. Without synchronization, each runs to its end before the next. Statements that contain
// synchronization run in lockstep: every thread executes a statement before the first executes the next. Their control
// flow (bounds of loops, conditions) must be uniform, as it must be on a device.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "interpreter.h"
#include "iropt/eval/tir/thread_sync.h"
#include "iropt/ir/element.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt::eval {

namespace {

// More than devices have in a block, and the limit of buffers and pointers in the states of all of them.
constexpr size_t kMaxThreads = 4096;
constexpr size_t kMaxStateEntries = 1 << 22;

}  // namespace

bool Interpreter::Synchronizes(const tir::Stmt* stmt) {
  if (!synchronizing_known_) synchronizing_ = FindSynchronizing(body_);
  synchronizing_known_ = true;
  return synchronizing_.contains(stmt);
}

bool Interpreter::ExecAxis(std::string_view thread_tag, const tir::Var* var, int64_t min, int64_t extent,
                           const tir::Stmt* body, int64_t step) {
  if (!IsThreadTag(thread_tag)) return ExecLoop(var, min, extent, body, step);
  ++execution_.thread_axes;
  bool done = false;
  if (Synchronizes(body)) {
    done = ExecThreads(thread_tag, var, min, extent, body);
  } else {
    positions_.push_back({thread_tag, 0});
    done = ExecLoop(var, min, extent, body, /*step=*/1, /*is_thread=*/true);
    positions_.pop_back();
    BindCopies();
  }
  --execution_.thread_axes;
  return done;
}

void Interpreter::Swap(State& state) {
  std::swap(variables(), state.variables);
  std::swap(pointers_, state.pointers);
  std::swap(views_, state.views);
  std::swap(positions_, state.positions);
  std::swap(copies_, state.copies);
}

bool Interpreter::ForEach(Threads& threads, FunctionRef<bool()> f) {
  for (const std::unique_ptr<State>& thread : threads) {
    Swap(*thread);
    const bool done = f();
    Swap(*thread);
    if (returned_ || TakeJump() != AfterBody::kFail)
      return Fail("a thread returns or leaves a loop while others wait for it");
    if (!done) return false;
  }
  return true;
}

bool Interpreter::EvalUniform(const PrimExpr* expr, Threads& threads, int64_t* value) {
  bool first = true;
  *value = 0;
  return ForEach(threads, [&] {
    int64_t own = 0;
    if (!EvalInt(expr, &own)) return false;
    if (!first && own != *value) return Fail("the control flow of synchronizing threads diverges");
    first = false;
    *value = own;
    return true;
  });
}

bool Interpreter::ExecThreads(std::string_view tag, const tir::Var* var, int64_t min, int64_t extent,
                              const tir::Stmt* body) {
  Threads one;
  one.push_back(std::make_unique<State>(State{variables(), pointers_, views_, positions_, copies_}));
  return ExecSpread(one, tag, var, min, extent, body);
}

// Gives a new thread copies of the local memory that was allocated around it. Memory with copies has them already.
bool Interpreter::OwnLocalMemory(State& thread, std::string_view tag, OwnedMemory* owned,
                                 std::vector<uint64_t>* addresses) {
  for (Pointer& place : thread.pointers) {
    if (!place.local || place.copies || !place.memory.writable) continue;
    const ThreadMemory* layout = LayoutOf(place.local);
    if (layout && layout->IsShared(tag)) continue;
    Memory copy;
    owned->push_back(NewMemory(place.memory.bytes, DataType::UInt(8), &copy));
    if (!owned->back()) return false;
    std::copy_n(place.memory.data, place.memory.bytes, copy.writable);
    std::copy_n(place.memory.written, place.memory.bytes, copy.written);
    place = {copy, 0, execution_.addresses.Map(copy), place.local};
    addresses->push_back(place.address);
    thread.variables.scalars.Bind(place.local, Scalar::Int(static_cast<int64_t>(place.address), DataType::Handle()));
  }
  return true;
}

// Splits each thread into one for each value of the variable.
bool Interpreter::ExecSpread(Threads& threads, std::string_view tag, const tir::Var* var, int64_t min, int64_t extent,
                             const tir::Stmt* body) {
  if (extent > static_cast<int64_t>(kMaxThreads / std::max<size_t>(threads.size(), 1)))
    return Fail(fmt::format("more than {} threads synchronize", kMaxThreads), ErrorCode::Budget);
  const size_t entries = threads.empty() ? 0 : threads[0]->pointers.size() + threads[0]->views.size();
  if (extent > 0 && static_cast<size_t>(extent) * threads.size() * entries > kMaxStateEntries)
    return Fail("synchronizing threads have too many buffers", ErrorCode::Budget);
  Threads more;
  OwnedMemory owned;
  std::vector<uint64_t> addresses;
  for (const std::unique_ptr<State>& thread : threads) {
    for (int64_t i = 0; i < extent; ++i) {
      more.push_back(std::make_unique<State>(*thread));
      more.back()->variables.scalars.Bind(var, Scalar::Int(WrapAdd(min, i), var->dtype));
      more.back()->positions.push_back({tag, i});
      if (!OwnLocalMemory(*more.back(), tag, &owned, &addresses)) return false;
    }
  }
  const auto bind = [&] {
    BindCopies();
    return true;
  };
  if (!ForEach(more, bind)) return false;
  lockstep_axes_.push_back(var);
  const bool done = ExecLockstep(body, more);
  lockstep_axes_.pop_back();
  for (const uint64_t address : addresses) execution_.addresses.Unmap(address);
  return done;
}

bool Interpreter::ExecLockstep(const tir::Stmt* stmt, Threads& threads) {
  if (!Synchronizes(stmt)) return ForEach(threads, [&] { return Exec(stmt); });
  return WithStack([&] { return Step() && ExecNodeLockstep(stmt, threads); });
}

bool Interpreter::ExecNodeLockstep(const tir::Stmt* stmt, Threads& threads) {
  switch (stmt->kind) {
    case NodeKind::kSeqStmt: {
      const auto& seq = To<tir::SeqStmt>(stmt)->seq;
      return std::all_of(seq.begin(), seq.end(), [&](const tir::Stmt* s) { return ExecLockstep(s, threads); });
    }
    case NodeKind::kFor: return ExecForLockstep(*To<tir::For>(stmt), threads);
    case NodeKind::kWhile: return ExecWhileLockstep(*To<tir::While>(stmt), threads);
    case NodeKind::kIfThenElse: return ExecIfLockstep(*To<tir::IfThenElse>(stmt), threads);
    case NodeKind::kAttrStmt: return ExecAttrLockstep(*To<tir::AttrStmt>(stmt), threads);
    case NodeKind::kLetStmt: return ExecLetLockstep(*To<tir::LetStmt>(stmt), threads);
    case NodeKind::kAllocate: return ExecAllocateLockstep(*To<tir::Allocate>(stmt), threads);
    case NodeKind::kBlockRealize: return ExecBlockLockstep(*To<tir::BlockRealize>(stmt), threads);
    case NodeKind::kEvaluate: return ExecEvaluateLockstep(*To<tir::Evaluate>(stmt), threads);
    case NodeKind::kAssertStmt: {
      const auto* assertion = To<tir::AssertStmt>(stmt);
      return ForEach(threads, [&] { return CheckAssertion(*assertion); }) && ExecLockstep(assertion->body, threads);
    }
    case NodeKind::kDeclBuffer: {
      const auto* declaration = To<tir::DeclBuffer>(stmt);
      return ForEach(threads, [&] { return Declare(*declaration->buffer); }) &&
             ExecLockstep(declaration->body, threads);
    }
    default: return Fail(fmt::format("threads synchronize in {}, which is not supported", NodeKindName(stmt->kind)));
  }
}

bool Interpreter::ExecForLockstep(const tir::For& loop, Threads& threads) {
  int64_t min = 0;
  int64_t extent = 0;
  int64_t step = 1;
  if (!EvalUniform(loop.min, threads, &min) || !EvalUniform(loop.extent, threads, &extent)) return false;
  if (loop.step && !EvalUniform(loop.step, threads, &step)) return false;
  if (step <= 0) return Fail("the step of a loop is not positive");
  if (loop.thread_binding)
    return ExecSpread(threads, loop.thread_binding->thread_tag, loop.loop_var, min, extent, loop.body);
  for (int64_t i = 0; i < extent; i = step < extent - i ? i + step : extent) {
    const Scalar value = Scalar::Int(WrapAdd(min, i), loop.loop_var->dtype);
    for (const std::unique_ptr<State>& thread : threads) thread->variables.scalars.Bind(loop.loop_var, value);
    if (!ExecLockstep(loop.body, threads)) return false;
  }
  return true;
}

bool Interpreter::ExecWhileLockstep(const tir::While& loop, Threads& threads) {
  for (;;) {
    int64_t value = 0;
    if (!EvalUniform(loop.condition, threads, &value)) return false;
    if (value == 0) return true;
    if (!ExecLockstep(loop.body, threads)) return false;
  }
}

bool Interpreter::ExecIfLockstep(const tir::IfThenElse& branch, Threads& threads) {
  int64_t value = 0;
  if (!EvalUniform(branch.condition, threads, &value)) return false;
  const tir::Stmt* taken = value != 0 ? branch.then_case : branch.else_case;
  return !taken || ExecLockstep(taken, threads);
}

bool Interpreter::ExecAttrLockstep(const tir::AttrStmt& attr, Threads& threads) {
  if (attr.attr_key == "thread_extent" || attr.attr_key == "virtual_thread") {
    const auto* axis = As<tir::IterVar>(attr.node);
    int64_t extent = 0;
    if (!axis || !EvalUniform(attr.value, threads, &extent)) return Fail("a thread axis is expected");
    const bool bound = threads.empty() || threads.front()->variables.scalars.Find(axis->var);
    return bound ? ExecLockstep(attr.body, threads)
                 : ExecSpread(threads, axis->thread_tag, axis->var, 0, extent, attr.body);
  }
  if (attr.attr_key == "buffer_bind_scope" || attr.attr_key == "tirx.scope_id")
    return Fail(fmt::format("the attribute '{}' is not supported", attr.attr_key));
  const auto* combiner = As<tir::CommReducer>(attr.node);
  if (combiner) combiners_.push_back(combiner);
  const bool done = ExecLockstep(attr.body, threads);
  if (combiner) combiners_.pop_back();
  return done;
}

bool Interpreter::ExecLetLockstep(const tir::LetStmt& let, Threads& threads) {
  return ForEach(threads, [&] { return BindLetStmt(let); }) && ExecLockstep(let.body, threads) &&
         ForEach(threads, [&] { return UnbindLet(let.var), true; });
}

bool Interpreter::AllocateFor(Threads& threads, const tir::Var* data, int64_t count, DataType dtype,
                              OwnedMemory* owned) {
  if (IsLocalMemory(data)) return ForEach(threads, [&] { return Allocate(data, count, dtype, owned); });
  Memory memory;
  owned->push_back(NewMemory(count, dtype, &memory));
  if (!owned->back()) return false;
  const Pointer place{memory, 0, execution_.addresses.Map(memory), nullptr};
  return ForEach(threads, [&] { return SetPointer(data, place), true; });
}

void Interpreter::DropMemoryOf(Threads& threads, const tir::Var* data) {
  ForEach(threads, [&] { return DropMemory(data), true; });
}

bool Interpreter::ExecAllocateLockstep(const tir::Allocate& allocate, Threads& threads) {
  int64_t count = 1;
  for (const PrimExpr* expr : allocate.extents) {
    int64_t extent = 0;
    if (!EvalUniform(expr, threads, &extent)) return false;
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return Fail("an allocation is out of range");
  }
  OwnedMemory owned;
  if (!AllocateFor(threads, allocate.buffer_var, count, allocate.dtype, &owned)) return false;
  if (!ExecLockstep(allocate.body, threads)) return false;
  DropMemoryOf(threads, allocate.buffer_var);
  return true;
}

bool Interpreter::ExecBlockLockstep(const tir::BlockRealize& realize, Threads& threads) {
  const tir::Block& block = *realize.block;
  bool first = true;
  bool active = false;
  const bool entered = ForEach(threads, [&] {
    bool own = false;
    if (!EnterBlock(realize, &own)) return false;
    if (!first && own != active) return Fail("the control flow of synchronizing threads diverges");
    first = false;
    active = own;
    return true;
  });
  if (!entered || !active) return entered;
  OwnedMemory owned;
  for (const tir::Buffer* buffer : block.alloc_buffers) {
    int64_t count = 0;
    if (!ForEach(threads, [&] { return Declare(*buffer) && CountElements(*buffer, &count); })) return false;
    if (!AllocateFor(threads, buffer->data, count, buffer->dtype, &owned)) return false;
  }
  if (!ForEach(threads, [&] { return MatchBuffers(block) && Initialize(block); })) return false;
  if (!ExecLockstep(block.body, threads)) return false;
  for (const tir::Buffer* buffer : block.alloc_buffers) DropMemoryOf(threads, buffer->data);
  return true;
}

bool Interpreter::ExecEvaluateLockstep(const tir::Evaluate& evaluate, Threads& threads) {
  if (const tir::Call* reduction = CallOf(evaluate.value, OpId::kTirTvmThreadAllreduce))
    return ReduceLockstep(*reduction, threads);
  const tir::Call* call = CallOf(evaluate.value, OpId::kTirTvmStorageSync);
  if (!call) return Fail("threads synchronize within an expression");
  const auto* scope = call->args.empty() ? nullptr : As<tir::StringImm>(call->args[0]);
  if (scope && scope->value == "global") return Fail("blocks of threads synchronize");
  return true;
}

// tvm_thread_allreduce(number of values, values..., condition, results..., axes...): threads that differ only in the
// axes share a result.
bool Interpreter::ReduceLockstep(const tir::Call& call, Threads& threads) {
  const auto* number = call.args.empty() ? nullptr : As<tir::IntImm>(call.args[0]);
  const bool fits = number && number->value > 0 && number->value < int64_t{call.args.size()};
  const size_t width = fits ? static_cast<size_t>(number->value) : 0;
  const tir::CommReducer* combiner = combiners_.empty() ? nullptr : combiners_.back();
  if (width == 0 || call.args.size() < 2 * width + 2 || !combiner || combiner->result.size() != width ||
      combiner->identity_element.size() != width || combiner->lhs.size() != width || combiner->rhs.size() != width) {
    return Fail("a reduction over threads has no combiner that fits");
  }
  std::vector<const tir::Var*> others;
  for (const tir::Var* axis : lockstep_axes_) {
    if (std::find(call.args.begin() + 2 * width + 2, call.args.end(), axis) == call.args.end()) others.push_back(axis);
  }
  std::map<std::vector<int64_t>, std::vector<State*>> groups;
  for (const std::unique_ptr<State>& thread : threads) {
    std::vector<int64_t> key;
    key.reserve(others.size());
    for (const tir::Var* axis : others) key.push_back(thread->variables.scalars.Find(axis)->integer);
    groups[key].push_back(thread.get());
  }
  return std::ranges::all_of(groups, [&](const auto& group) { return ReduceGroup(call, width, group.second); });
}

bool Interpreter::ReduceGroup(const tir::Call& call, size_t width, const std::vector<State*>& group) {
  const tir::CommReducer& combiner = *combiners_.back();
  std::vector<Scalar> sums(width);
  for (size_t i = 0; i < width; ++i) {
    if (!Eval(combiner.identity_element[i], &sums[i])) return false;
  }
  const auto add = [&] {
    bool active = false;
    if (!EvalBool(call.args[1 + width], &active)) return false;
    for (size_t i = 0; active && i < width; ++i) {
      Scalar value;
      if (!Eval(call.args[1 + i], &value)) return false;
      env().Bind(combiner.lhs[i], sums[i]);
      env().Bind(combiner.rhs[i], value);
    }
    for (size_t i = 0; active && i < width; ++i) {
      if (!Eval(combiner.result[i], &sums[i])) return false;
    }
    return true;
  };
  const auto store = [&] {
    for (size_t i = 0; i < width; ++i) {
      const auto* place = As<tir::BufferLoad>(call.args[2 + width + i]);
      ElementAddress element;
      Scalar converted;
      if (!place || !CastScalar(sums[i], place->buffer->dtype, &converted))
        return Fail("a reduction over threads has no destination for its result");
      if (!Locate(*place->buffer, place->indices, 0, /*bounded=*/true, &element) ||
          !StoreAt(element, converted, place->buffer->name)) {
        return false;
      }
    }
    return true;
  };
  for (const FunctionRef<bool()> step : {FunctionRef<bool()>(add), FunctionRef<bool()>(store)}) {
    for (State* thread : group) {
      Swap(*thread);
      const bool done = step();
      Swap(*thread);
      if (!done) return false;
    }
  }
  return true;
}

}  // namespace iropt::eval
