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

bool Lockstep::ForEach(Threads& threads, FunctionRef<bool()> f) {
  for (const std::unique_ptr<State>& thread : threads) {
    Swap(*thread);
    const bool done = f();
    Swap(*thread);
    if (interpreter_.returned_ || interpreter_.TakeJump() != Interpreter::AfterBody::kFail)
      return Fail("a thread returns or leaves a loop while others wait for it");
    if (!done) return false;
  }
  return true;
}

bool Lockstep::EvalUniform(FunctionRef<bool(int64_t*)> eval, Threads& threads, int64_t* value) {
  bool first = true;
  *value = 0;
  return ForEach(threads, [&] {
    int64_t own = 0;
    if (!eval(&own)) return false;
    if (!first && own != *value) return Fail("the control flow of synchronizing threads diverges");
    first = false;
    *value = own;
    return true;
  });
}

bool Lockstep::EvalUniform(const PrimExpr* expr, Threads& threads, int64_t* value) {
  return EvalUniform([&](int64_t* own) { return interpreter_.EvalInt(expr, own); }, threads, value);
}

bool Lockstep::Run(std::string_view tag, const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body) {
  Threads one;
  one.push_back(std::make_unique<State>(State{interpreter_.variables(), interpreter_.thread_}));
  return Spread(one, tag, var, min, extent, body);
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
bool Lockstep::Spread(Threads& threads, std::string_view tag, const tir::Var* var, int64_t min, int64_t extent,
                      const tir::Stmt* body) {
  if (extent > kMaxLockstepThreads / std::max<int64_t>(std::ssize(threads), 1))
    return Fail(fmt::format("more than {} threads synchronize", kMaxLockstepThreads), ErrorCode::Budget);
  const size_t entries = threads.empty() ? 0 : threads[0]->memory.pointers.size() + threads[0]->memory.views.size();
  if (extent > 0 && static_cast<size_t>(extent) * threads.size() * entries > kMaxStateEntries)
    return Fail("synchronizing threads have too many buffers", ErrorCode::Budget);
  Threads more;
  OwnedMemory owned;
  std::vector<uint64_t> addresses;
  for (const std::unique_ptr<State>& thread : threads) {
    for (int64_t i = 0; i < extent; ++i) {
      more.push_back(std::make_unique<State>(*thread));
      more.back()->variables.scalars.Bind(var, Scalar::Int(WrapAdd(min, i), var->dtype));
      more.back()->memory.positions.push_back({tag, i});
      if (!OwnLocalMemory(*more.back(), tag, &owned, &addresses)) return false;
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

bool Lockstep::Exec(const tir::Stmt* stmt, Threads& threads) {
  if (!interpreter_.plan_.Synchronizes(stmt)) return ForEach(threads, [&] { return interpreter_.Exec(stmt); });
  return WithStack([&] { return interpreter_.Step() && ExecNode(stmt, threads); });
}

bool Lockstep::ExecNode(const tir::Stmt* stmt, Threads& threads) {
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
    default: return Fail(fmt::format("threads synchronize in {}, which is not supported", NodeKindName(stmt->kind)));
  }
}

bool Lockstep::ExecFor(const tir::For& loop, Threads& threads) {
  int64_t min = 0;
  int64_t extent = 0;
  int64_t step = 1;
  if (!EvalUniform(loop.min, threads, &min) || !EvalUniform(loop.extent, threads, &extent)) return false;
  if (loop.step && !EvalUniform(loop.step, threads, &step)) return false;
  if (step <= 0) return Fail("the step of a loop is not positive");
  if (loop.thread_binding)
    return Spread(threads, loop.thread_binding->thread_tag, loop.loop_var, min, extent, loop.body);
  for (int64_t i = 0; i < extent; i = step < extent - i ? i + step : extent) {
    const Scalar value = Scalar::Int(WrapAdd(min, i), loop.loop_var->dtype);
    for (const std::unique_ptr<State>& thread : threads) thread->variables.scalars.Bind(loop.loop_var, value);
    if (!Exec(loop.body, threads)) return false;
  }
  return true;
}

bool Lockstep::ExecWhile(const tir::While& loop, Threads& threads) {
  for (;;) {
    int64_t value = 0;
    if (!EvalUniform(loop.condition, threads, &value)) return false;
    if (value == 0) return true;
    if (!Exec(loop.body, threads)) return false;
  }
}

bool Lockstep::ExecIf(const tir::IfThenElse& branch, Threads& threads) {
  int64_t value = 0;
  if (!EvalUniform(branch.condition, threads, &value)) return false;
  const tir::Stmt* taken = value != 0 ? branch.then_case : branch.else_case;
  return !taken || Exec(taken, threads);
}

bool Lockstep::ExecAttr(const tir::AttrStmt& attr, Threads& threads) {
  if (tir::IsThreadKey(attr.attr_key)) {
    const tir::IterVar* axis = tir::ThreadAxisOf(attr);
    int64_t extent = 0;
    if (!axis || !EvalUniform(attr.value, threads, &extent)) return Fail("a thread axis is expected");
    const bool bound = threads.empty() || threads.front()->variables.scalars.Find(axis->var);
    return bound ? Exec(attr.body, threads) : Spread(threads, axis->thread_tag, axis->var, 0, extent, attr.body);
  }
  if (IsUnknownAttribute(attr)) return Fail(fmt::format("the attribute '{}' is not supported", attr.attr_key));
  const auto* combiner = As<tir::CommReducer>(attr.node);
  if (combiner) combiners_.push_back(combiner);
  const bool done = Exec(attr.body, threads);
  if (combiner) combiners_.pop_back();
  return done;
}

bool Lockstep::ExecLet(const tir::LetStmt& let, Threads& threads) {
  return ForEach(threads, [&] { return interpreter_.BindLetStmt(let); }) && Exec(let.body, threads) &&
         ForEach(threads, [&] { return interpreter_.UnbindLet(let.var), true; });
}

bool Lockstep::AllocateFor(Threads& threads, const tir::Var* data, int64_t count, DataType dtype, OwnedMemory* owned) {
  if (IsLocalMemory(data)) return ForEach(threads, [&] { return interpreter_.Allocate(data, count, dtype, owned); });
  Memory memory;
  owned->push_back(interpreter_.NewMemory(count, dtype, &memory));
  if (!owned->back()) return false;
  const Pointer place{memory, 0, interpreter_.execution_.addresses.Map(memory), nullptr};
  return ForEach(threads, [&] { return interpreter_.SetPointer(data, place), true; });
}

void Lockstep::DropMemoryOf(Threads& threads, const tir::Var* data) {
  ForEach(threads, [&] { return interpreter_.DropMemory(data), true; });
}

bool Lockstep::ExecAllocate(const tir::Allocate& allocate, Threads& threads) {
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

bool Lockstep::ExecBlock(const tir::BlockRealize& realize, Threads& threads) {
  const tir::Block& block = *realize.block;
  int64_t active = 0;
  const auto enter = [&](int64_t* own) {
    bool holds = false;
    const bool entered = interpreter_.EnterBlock(realize, &holds);
    *own = static_cast<int64_t>(holds);
    return entered;
  };
  if (!EvalUniform(enter, threads, &active)) return false;
  if (active == 0) return true;
  OwnedMemory owned;
  for (const tir::Buffer* buffer : block.alloc_buffers) {
    int64_t count = 0;
    if (!ForEach(threads, [&] { return interpreter_.Declare(*buffer) && interpreter_.CountElements(*buffer, &count); }))
      return false;
    if (!AllocateFor(threads, buffer->data, count, buffer->dtype, &owned)) return false;
  }
  if (!ForEach(threads, [&] { return interpreter_.MatchBuffers(block) && interpreter_.Initialize(block); }))
    return false;
  if (!Exec(block.body, threads)) return false;
  for (const tir::Buffer* buffer : block.alloc_buffers) DropMemoryOf(threads, buffer->data);
  return true;
}

bool Lockstep::ExecEvaluate(const tir::Evaluate& evaluate, Threads& threads) {
  switch (LockstepCallOf(evaluate.value)) {
    case LockstepCall::kReduction: return Reduce(*As<tir::Call>(evaluate.value), threads);
    case LockstepCall::kBarrier: return true;
    case LockstepCall::kGridBarrier: return Fail("blocks of threads synchronize");
    case LockstepCall::kOther: return Fail("threads synchronize within an expression");
  }
  IROPT_UNREACHABLE("a kind of calls");
}

bool Lockstep::Reduce(const tir::Call& call, Threads& threads) {
  const auto reduction = ThreadReduction::Of(call, combiners_.empty() ? nullptr : combiners_.back());
  if (!reduction) return Fail("a reduction over threads has no combiner that fits");
  std::map<std::vector<int64_t>, std::vector<State*>> groups;
  for (const std::unique_ptr<State>& thread : threads) {
    std::vector<int64_t> key;
    for (const tir::Var* axis : axes_) {
      if (!reduction->IsOver(axis)) key.push_back(thread->variables.scalars.Find(axis)->integer);
    }
    groups[key].push_back(thread.get());
  }
  return std::ranges::all_of(groups, [&](const auto& group) { return ReduceGroup(*reduction, group.second); });
}

bool Lockstep::ReduceGroup(const ThreadReduction& reduction, const std::vector<State*>& group) {
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
