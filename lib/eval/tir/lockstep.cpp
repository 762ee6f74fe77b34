#include "lockstep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "iropt/eval/tir/thread_sync.h"
#include "iropt/ir/element.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/support/stack.h"

namespace iropt::eval {

namespace {

// The limit of buffers and pointers in the states of all threads.
constexpr size_t kMaxStateEntries = 1 << 22;

}  // namespace

void Lockstep::Swap(State& state) {
  std::swap(interpreter_.variables(), state.variables);
  std::swap(interpreter_.thread_, state.memory);
}

bool Lockstep::ForEach(const Threads& threads, FunctionRef<bool()> f) {
  if (interpreter_.execution_.races) interpreter_.execution_.races->NextStep();
  for (State* thread : threads) {
    Swap(*thread);
    const bool done = f();
    Swap(*thread);
    if (interpreter_.returned_ || interpreter_.TakeJump() != Interpreter::AfterBody::kFail)
      return Fail("a thread returns or leaves a loop while others wait for it");
    if (!done) return false;
  }
  return true;
}

bool Lockstep::EvalInts(const PrimExpr* expr, const Threads& threads, std::vector<int64_t>* values) {
  values->clear();
  return ForEach(threads, [&] { return interpreter_.EvalInt(expr, &values->emplace_back()); });
}

bool Lockstep::EvalUniform(const PrimExpr* expr, const Threads& threads, int64_t* value) {
  std::vector<int64_t> values;
  *value = 0;
  if (!EvalInts(expr, threads, &values)) return false;
  if (values.empty()) return true;
  *value = values.front();
  return std::ranges::all_of(values, [&](int64_t own) { return own == *value; }) ||
         Fail("threads that run in lockstep differ in the size of an allocation, a number of threads or a step");
}

bool Lockstep::Choose(const tir::Stmt& stmt, const Threads& threads, FunctionRef<bool(size_t)> condition,
                      Threads* chosen) {
  chosen->clear();
  for (size_t i = 0; i < threads.size(); ++i) {
    if (condition(i)) chosen->push_back(threads[i]);
  }
  const bool diverges = !chosen->empty() && chosen->size() != threads.size();
  return !diverges || !interpreter_.plan_.Synchronizes(&stmt) ||
         Fail("the control flow of synchronizing threads diverges");
}

bool Lockstep::Run(std::string_view tag, const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body) {
  State one{interpreter_.variables(), interpreter_.thread_};
  return Spread({&one}, tag, var, min, extent, body);
}

// Gives a new thread copies of the local memory that was allocated around it. Memory with copies has them already.
bool Lockstep::OwnLocalMemory(State& thread, std::string_view tag, OwnedMemory* owned,
                              std::vector<uint64_t>* addresses) {
  for (Pointer& place : thread.memory.pointers) {
    if (!place.local || place.copies || !place.memory.writable) continue;
    const ThreadMemory* layout = interpreter_.plan_.LayoutOf(place.local);
    if (layout && layout->IsShared(tag)) continue;
    Memory copy;
    owned->push_back(interpreter_.NewMemory(place.memory.bytes, DataType::UInt(8), &copy));
    if (!owned->back()) return false;
    std::copy_n(place.memory.data, place.memory.bytes, copy.writable);
    std::copy_n(place.memory.written, place.memory.bytes, copy.written);
    place = {copy, 0, interpreter_.execution_.addresses.Map(copy), place.local};
    addresses->push_back(place.address);
    thread.variables.scalars.Bind(place.local, Scalar::Int(static_cast<int64_t>(place.address), DataType::Handle()));
  }
  return true;
}

// Splits each thread into one for each value of the variable.
bool Lockstep::Spread(const Threads& threads, std::string_view tag, const tir::Var* var, int64_t min, int64_t extent,
                      const tir::Stmt* body) {
  if (extent > kMaxLockstepThreads / std::max<int64_t>(std::ssize(threads), 1))
    return Fail(fmt::format("more than {} threads run in lockstep", kMaxLockstepThreads), ErrorCode::Budget);
  const size_t entries = threads.empty() ? 0 : threads[0]->memory.pointers.size() + threads[0]->memory.views.size();
  if (extent > 0 && static_cast<size_t>(extent) * threads.size() * entries > kMaxStateEntries)
    return Fail("threads that run in lockstep have too many buffers", ErrorCode::Budget);
  std::vector<std::unique_ptr<State>> states;
  Threads more;
  OwnedMemory owned;
  std::vector<uint64_t> addresses;
  for (const State* thread : threads) {
    for (int64_t i = 0; i < extent; ++i) {
      State& own = *states.emplace_back(std::make_unique<State>(*thread));
      more.push_back(&own);
      own.variables.scalars.Bind(var, Scalar::Int(WrapAdd(min, i), var->dtype));
      own.memory.positions.push_back({tag, i});
      NumberThread(interpreter_.execution_, own.memory);
      if (!OwnLocalMemory(own, tag, &owned, &addresses)) return false;
    }
  }
  const auto bind = [&] {
    interpreter_.BindCopies();
    return true;
  };
  if (!ForEach(more, bind)) return false;
  axes_.push_back(var);
  const bool done = Exec(body, more);
  axes_.pop_back();
  for (const uint64_t address : addresses) interpreter_.execution_.addresses.Unmap(address);
  return done;
}

bool Lockstep::Exec(const tir::Stmt* stmt, const Threads& threads) {
  if (threads.empty()) return true;
  if (!interpreter_.plan_.RunsInLockstep(stmt)) return ForEach(threads, [&] { return interpreter_.Exec(stmt); });
  return WithStack([&] { return interpreter_.Step() && ExecNode(stmt, threads); });
}

bool Lockstep::ExecNode(const tir::Stmt* stmt, const Threads& threads) {
  switch (stmt->kind) {
    case NodeKind::kSeqStmt: {
      const auto& seq = To<tir::SeqStmt>(stmt)->seq;
      return std::all_of(seq.begin(), seq.end(), [&](const tir::Stmt* s) { return Exec(s, threads); });
    }
    case NodeKind::kFor: return ExecFor(*To<tir::For>(stmt), threads);
    case NodeKind::kWhile: return ExecWhile(*To<tir::While>(stmt), threads);
    case NodeKind::kIfThenElse: return ExecIf(*To<tir::IfThenElse>(stmt), threads);
    case NodeKind::kAttrStmt: return ExecAttr(*To<tir::AttrStmt>(stmt), threads);
    case NodeKind::kLetStmt: return ExecLet(*To<tir::LetStmt>(stmt), threads);
    case NodeKind::kAllocate: return ExecAllocate(*To<tir::Allocate>(stmt), threads);
    case NodeKind::kBlockRealize: return ExecBlock(*To<tir::BlockRealize>(stmt), threads);
    case NodeKind::kEvaluate: return ExecEvaluate(*To<tir::Evaluate>(stmt), threads);
    case NodeKind::kAssertStmt: {
      const auto* assertion = To<tir::AssertStmt>(stmt);
      return ForEach(threads, [&] { return interpreter_.CheckAssertion(*assertion); }) &&
             Exec(assertion->body, threads);
    }
    case NodeKind::kDeclBuffer: {
      const auto* declaration = To<tir::DeclBuffer>(stmt);
      return ForEach(threads, [&] { return interpreter_.Declare(*declaration->buffer); }) &&
             Exec(declaration->body, threads);
    }
    default:
      return Fail(fmt::format("threads run in lockstep in {}, which is not supported", NodeKindName(stmt->kind)));
  }
}

bool Lockstep::ExecFor(const tir::For& loop, const Threads& threads) {
  const std::string_view tag = loop.thread_binding ? loop.thread_binding->thread_tag : std::string_view();
  std::vector<int64_t> mins;
  std::vector<int64_t> extents;
  int64_t step = 1;
  if (!EvalInts(loop.min, threads, &mins) || !EvalInts(loop.extent, threads, &extents)) return false;
  if (loop.step && !EvalUniform(loop.step, threads, &step)) return false;
  if (step <= 0) return Fail("the step of a loop is not positive");
  if (IsThreadTag(tag)) {
    int64_t extent = 0;
    return EvalUniform(loop.extent, threads, &extent) &&
           ExecAxis(tag, loop.loop_var, mins.front(), extent, loop.body, threads);
  }
  Threads idle;
  for (size_t t = 0; t < threads.size(); ++t) {
    if (extents[t] <= 0) idle.push_back(threads[t]);
  }
  if (!ForEach(idle, [&] { return interpreter_.InitializeEmpty(loop); })) return false;
  const Interpreter::ConcurrentLoop blocks(interpreter_.execution_, loop.loop_var, tag);
  return ExecLoop(loop, loop.loop_var, mins, extents, step, loop.body, threads);
}

bool Lockstep::ExecLoop(const tir::Stmt& loop, const tir::Var* var, const std::vector<int64_t>& mins,
                        const std::vector<int64_t>& extents, int64_t step, const tir::Stmt* body,
                        const Threads& threads) {
  RaceDetector* races = interpreter_.execution_.races;
  const int64_t last = *std::ranges::max_element(extents);
  Threads active;
  for (int64_t i = 0; i < last; i = step < last - i ? i + step : last) {
    if (!Choose(
            loop, threads, [&](size_t t) { return i < extents[t]; }, &active))
      return false;
    if (races && races->IsInnermost(var)) races->NextIteration(WrapAdd(mins.front(), i));
    for (size_t t = 0; t < threads.size(); ++t)
      threads[t]->variables.scalars.Bind(var, Scalar::Int(WrapAdd(mins[t], i), var->dtype));
    if (!Exec(body, active)) return false;
  }
  return true;
}

bool Lockstep::ExecAxis(std::string_view tag, const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body,
                        const Threads& threads) {
  const ThreadPosition* bound = threads.front()->memory.Find(tag);
  if (!bound) return Spread(threads, tag, var, min, extent, body);
  Threads active;
  const auto has_iteration = [&](size_t t) { return threads[t]->memory.Find(tag)->index < extent; };
  if (!Choose(*body, threads, has_iteration, &active)) return false;
  for (State* thread : active) {
    const int64_t index = thread->memory.Find(tag)->index;
    thread->variables.scalars.Bind(var, Scalar::Int(WrapAdd(min, index), var->dtype));
  }
  return Exec(body, active);
}

bool Lockstep::ExecWhile(const tir::While& loop, const Threads& threads) {
  Threads active = threads;
  while (!active.empty()) {
    std::vector<int64_t> values;
    const Threads before = active;
    if (!EvalInts(loop.condition, before, &values)) return false;
    if (!Choose(
            loop, before, [&](size_t t) { return values[t] != 0; }, &active))
      return false;
    if (!Exec(loop.body, active)) return false;
  }
  return true;
}

bool Lockstep::ExecIf(const tir::IfThenElse& branch, const Threads& threads) {
  std::vector<int64_t> values;
  Threads chosen;
  if (!EvalInts(branch.condition, threads, &values)) return false;
  for (const int64_t value : values) interpreter_.NoteBranch(branch.condition, value != 0);
  if (!Choose(
          branch, threads, [&](size_t t) { return values[t] != 0; }, &chosen))
    return false;
  if (!Exec(branch.then_case, chosen)) return false;
  if (!branch.else_case) return true;
  return Choose(
             branch, threads, [&](size_t t) { return values[t] == 0; }, &chosen) &&
         Exec(branch.else_case, chosen);
}

bool Lockstep::ExecAttr(const tir::AttrStmt& attr, const Threads& threads) {
  if (tir::IsThreadKey(attr.attr_key)) {
    const tir::IterVar* axis = tir::ThreadAxisOf(attr);
    int64_t extent = 0;
    if (!axis || !EvalUniform(attr.value, threads, &extent)) return Fail("a thread axis is expected");
    if (threads.front()->variables.scalars.Find(axis->var)) return Exec(attr.body, threads);
    if (IsThreadTag(axis->thread_tag)) return ExecAxis(axis->thread_tag, axis->var, 0, extent, attr.body, threads);
    const Interpreter::ConcurrentLoop blocks(interpreter_.execution_, axis->var, axis->thread_tag);
    return ExecLoop(attr, axis->var, std::vector<int64_t>(threads.size()), std::vector<int64_t>(threads.size(), extent),
                    1, attr.body, threads);
  }
  if (IsUnknownAttribute(attr)) return Fail(fmt::format("the attribute '{}' is not supported", attr.attr_key));
  const auto* combiner = As<tir::CommReducer>(attr.node);
  if (combiner) combiners_.push_back(combiner);
  const bool done = Exec(attr.body, threads);
  if (combiner) combiners_.pop_back();
  return done;
}

bool Lockstep::ExecLet(const tir::LetStmt& let, const Threads& threads) {
  return ForEach(threads, [&] { return interpreter_.BindLetStmt(let); }) && Exec(let.body, threads) &&
         ForEach(threads, [&] { return interpreter_.UnbindLet(let.var), true; });
}

bool Lockstep::AllocateFor(const Threads& threads, const tir::Var* data, int64_t count, DataType dtype,
                           OwnedMemory* owned) {
  if (!IsBlockMemory(data)) return ForEach(threads, [&] { return interpreter_.Allocate(data, count, dtype, owned); });
  // A warp consists of the threads that differ in threadIdx.x only.
  std::map<std::vector<int64_t>, Pointer> places;
  const bool is_of_warp = IsThreadMemory(data);
  for (State* thread : threads) {
    std::vector<int64_t> key;
    for (const ThreadPosition& position : thread->memory.positions) {
      if (is_of_warp && position.tag != "threadIdx.x") key.push_back(position.index);
    }
    const auto [place, is_new] = places.try_emplace(std::move(key));
    if (is_new) {
      Memory memory;
      owned->push_back(interpreter_.NewMemory(count, dtype, &memory));
      if (!owned->back()) return false;
      place->second = {memory, 0, interpreter_.execution_.addresses.Map(memory), nullptr};
    }
    Swap(*thread);
    interpreter_.SetPointer(data, place->second);
    Swap(*thread);
  }
  return true;
}

void Lockstep::DropMemoryOf(const Threads& threads, const tir::Var* data) {
  ForEach(threads, [&] { return interpreter_.DropMemory(data), true; });
}

bool Lockstep::ExecAllocate(const tir::Allocate& allocate, const Threads& threads) {
  int64_t count = 1;
  for (const PrimExpr* expr : allocate.extents) {
    int64_t extent = 0;
    if (!EvalUniform(expr, threads, &extent)) return false;
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return Fail("an allocation is out of range");
  }
  OwnedMemory owned;
  if (!AllocateFor(threads, allocate.buffer_var, count, allocate.dtype, &owned)) return false;
  if (!Exec(allocate.body, threads)) return false;
  DropMemoryOf(threads, allocate.buffer_var);
  return true;
}

bool Lockstep::ExecBlock(const tir::BlockRealize& realize, const Threads& threads) {
  const tir::Block& block = *realize.block;
  std::vector<bool> holds;
  const auto enter = [&] {
    bool own = false;
    const bool entered = interpreter_.EnterBlock(realize, &own);
    holds.push_back(own);
    return entered;
  };
  Threads active;
  if (!ForEach(threads, enter)) return false;
  if (!Choose(
          realize, threads, [&](size_t t) { return holds[t]; }, &active))
    return false;
  if (active.empty()) return true;
  OwnedMemory owned;
  for (const tir::Buffer* buffer : block.alloc_buffers) {
    int64_t count = 0;
    if (!ForEach(active, [&] { return interpreter_.Declare(*buffer) && interpreter_.CountElements(*buffer, &count); }))
      return false;
    if (!AllocateFor(active, buffer->data, count, buffer->dtype, &owned)) return false;
  }
  if (!ForEach(active, [&] { return interpreter_.MatchBuffers(block) && interpreter_.Initialize(block); }))
    return false;
  if (!Exec(block.body, active)) return false;
  for (const tir::Buffer* buffer : block.alloc_buffers) DropMemoryOf(active, buffer->data);
  return true;
}

bool Lockstep::ExecEvaluate(const tir::Evaluate& evaluate, const Threads& threads) {
  RaceDetector* races = interpreter_.execution_.races;
  switch (LockstepCallOf(evaluate.value)) {
    // Shuffles may implement it, without a barrier.
    case LockstepCall::kReduction: return Reduce(*As<tir::Call>(evaluate.value), threads);
    case LockstepCall::kBarrier:
      if (races) races->Barrier();
      return true;
    case LockstepCall::kGridBarrier: return Fail("blocks of threads synchronize");
    case LockstepCall::kOther: return Fail("threads synchronize within an expression");
  }
  IROPT_UNREACHABLE("a kind of calls");
}

bool Lockstep::Reduce(const tir::Call& call, const Threads& threads) {
  const auto reduction = ThreadReduction::Of(call, combiners_.empty() ? nullptr : combiners_.back());
  if (!reduction) return Fail("a reduction over threads has no combiner that fits");
  std::map<std::vector<int64_t>, Threads> groups;
  for (State* thread : threads) {
    std::vector<int64_t> key;
    for (const tir::Var* axis : axes_) {
      if (!reduction->IsOver(axis)) key.push_back(thread->variables.scalars.Find(axis)->integer);
    }
    groups[key].push_back(thread);
  }
  return std::ranges::all_of(groups, [&](const auto& group) { return ReduceGroup(*reduction, group.second); });
}

bool Lockstep::ReduceGroup(const ThreadReduction& reduction, const Threads& group) {
  const tir::CommReducer& combiner = *reduction.combiner;
  const size_t width = reduction.values.size();
  std::vector<Scalar> sums(width);
  for (size_t i = 0; i < width; ++i) {
    if (!interpreter_.Eval(combiner.identity_element[i], &sums[i])) return false;
  }
  const auto add = [&] {
    bool active = false;
    if (!interpreter_.EvalBool(reduction.condition, &active)) return false;
    for (size_t i = 0; active && i < width; ++i) {
      Scalar value;
      if (!interpreter_.Eval(reduction.values[i], &value)) return false;
      interpreter_.env().Bind(combiner.lhs[i], sums[i]);
      interpreter_.env().Bind(combiner.rhs[i], value);
    }
    for (size_t i = 0; active && i < width; ++i) {
      if (!interpreter_.Eval(combiner.result[i], &sums[i])) return false;
    }
    return true;
  };
  const auto store = [&] {
    for (size_t i = 0; i < width; ++i) {
      const auto* place = As<tir::BufferLoad>(reduction.results[i]);
      Interpreter::ElementAddress element;
      Scalar converted;
      if (!place || !CastScalar(sums[i], place->buffer->dtype, &converted))
        return Fail("a reduction over threads has no destination for its result");
      if (!interpreter_.Locate(*place->buffer, place->indices, 0, /*bounded=*/true, &element) ||
          !interpreter_.StoreAt(element, converted, place->buffer->name)) {
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
