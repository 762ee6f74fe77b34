// Statements of the interpreter, in the order of execution.
#include "interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/eval/tir/thread_sync.h"
#include "iropt/ir/assertion.h"
#include "iropt/ir/element.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/op/assert_message.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/support/stack.h"
#include "lockstep.h"

namespace iropt::eval {

// Owns the memory of an allocation, and frees it (with its pointer variable) at the end of the allocating statement.
class Interpreter::MemoryScope {
 public:
  MemoryScope(Interpreter& interpreter, const tir::Var* data) : interpreter_(interpreter), data_(data) {}
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;
  ~MemoryScope() {
    if (allocated_) interpreter_.DropMemory(data_);
  }

  bool Allocate(int64_t elements, DataType dtype) {
    allocated_ = interpreter_.Allocate(data_, elements, dtype, &owned_);
    return allocated_;
  }

 private:
  Interpreter& interpreter_;
  const tir::Var* data_;
  OwnedMemory owned_;
  bool allocated_ = false;
};

// T.ret unwinds like an error, but is not one.
bool Interpreter::Run(const PrimFunc& func) {
  plan_ = ThreadPlan(func.body);
  if (execution_.races) execution_.races->AddFunction(func.body);
  return Exec(func.body) || (returned_ && !failed());
}

bool Interpreter::Exec(const tir::Stmt* stmt) {
  return WithStack([&] { return Step() && ExecNode(stmt); });
}

bool Interpreter::ExecNode(const tir::Stmt* stmt) {
  switch (stmt->kind) {
    case NodeKind::kLetStmt: return ExecLet(*To<tir::LetStmt>(stmt));
    case NodeKind::kAttrStmt: return ExecAttr(*To<tir::AttrStmt>(stmt));
    case NodeKind::kAssertStmt: return ExecAssert(*To<tir::AssertStmt>(stmt));
    case NodeKind::kBufferStore: return ExecStore(*To<tir::BufferStore>(stmt));
    case NodeKind::kBufferRealize: return ExecRealize(*To<tir::BufferRealize>(stmt));
    case NodeKind::kPrefetch: return true;
    case NodeKind::kAllocate: return ExecAllocate(*To<tir::Allocate>(stmt));
    case NodeKind::kAllocateConst: return ExecAllocateConst(*To<tir::AllocateConst>(stmt));
    case NodeKind::kDeclBuffer: {
      const auto* declaration = To<tir::DeclBuffer>(stmt);
      return Declare(*declaration->buffer) && Exec(declaration->body);
    }
    case NodeKind::kSeqStmt: return ExecSeq(*To<tir::SeqStmt>(stmt));
    case NodeKind::kIfThenElse: return ExecIf(*To<tir::IfThenElse>(stmt));
    case NodeKind::kEvaluate: return ExecEvaluate(*To<tir::Evaluate>(stmt));
    case NodeKind::kFor: return ExecFor(*To<tir::For>(stmt));
    case NodeKind::kWhile: return ExecWhile(*To<tir::While>(stmt));
    case NodeKind::kBlockRealize: return ExecBlockRealize(*To<tir::BlockRealize>(stmt));
    case NodeKind::kBlockStmt: return ExecBlock(*To<tir::Block>(stmt));
    default: return Fail(fmt::format("cannot run {}", NodeKindName(stmt->kind)));
  }
}

bool Interpreter::ExecSeq(const tir::SeqStmt& seq) {
  return std::all_of(seq.seq.begin(), seq.seq.end(), [&](const tir::Stmt* stmt) { return Exec(stmt); });
}

bool Interpreter::BindLetStmt(const tir::LetStmt& let) {
  if (!let.var->dtype.is_handle()) return BindLet(let.var, let.value);
  Scalar pointer;
  if (!Eval(let.value, &pointer)) return false;
  // The variable may have pointed to other memory in an earlier iteration.
  if (let.var->id < thread_.pointers.size()) thread_.pointers[let.var->id] = {};
  env().Bind(let.var, pointer);
  const Pointer place = execution_.addresses.Find(static_cast<uint64_t>(pointer.integer));
  if (place.known()) SetPointer(let.var, place);
  return true;
}

bool Interpreter::ExecLet(const tir::LetStmt& let) {
  if (!BindLetStmt(let)) return false;
  const bool done = Exec(let.body);
  UnbindLet(let.var);
  return done;
}

bool Interpreter::ExecAttr(const tir::AttrStmt& attr) {
  if (tir::IsThreadKey(attr.attr_key)) {
    const tir::IterVar* axis = tir::ThreadAxisOf(attr);
    int64_t extent = 0;
    if (!axis || !EvalInt(attr.value, &extent)) return Fail("a thread axis is expected");
    // An axis that is bound again within keeps its value.
    if (env().Find(axis->var)) return Exec(attr.body);
    const ConcurrentLoop loop(execution_, axis->var, axis->thread_tag);
    return ExecAxis(axis->thread_tag, axis->var, 0, extent, attr.body);
  }
  if (IsUnknownAttribute(attr)) return Fail(fmt::format("the attribute '{}' is not supported", attr.attr_key));
  return Exec(attr.body);
}

bool Interpreter::CheckAssertion(const tir::AssertStmt& assertion) {
  bool holds = false;
  if (!EvalBool(assertion.condition, &holds)) return false;
  if (holds) return true;
  return Fail(AssertionFailure(AssertMessageText(assertion.message)));
}

bool Interpreter::ExecAssert(const tir::AssertStmt& assertion) {
  return CheckAssertion(assertion) && Exec(assertion.body);
}

namespace {

bool IsUndef(const PrimExpr* value) { return CallOf(value, op::kTirUndef) != nullptr; }

}  // namespace

bool Interpreter::ExecStore(const tir::BufferStore& store) {
  const int lanes = store.value->dtype.lanes;
  if (lanes < 1) return Fail("a vector of unknown length is stored");
  if (IsUndef(store.value)) return ForgetLane(store, 0);
  if (lanes == 1) {
    Scalar value;
    return Eval(store.value, &value) && StoreLane(store, 0, value);
  }
  // All lanes are computed before any is stored: they may be loaded from the same buffer.
  std::vector<Scalar> values(static_cast<size_t>(lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    if (!Eval(store.value, &values[static_cast<size_t>(lane)], lane)) return false;
  }
  for (int lane = 0; lane < lanes; ++lane) {
    if (!StoreLane(store, lane, values[static_cast<size_t>(lane)])) return false;
  }
  return true;
}

bool Interpreter::ExecAllocate(const tir::Allocate& allocate) {
  std::vector<int64_t> extents;
  int64_t count = 0;
  if (!EvalExtents(allocate.extents, &extents, &count)) return false;
  MemoryScope scope(*this, allocate.buffer_var);
  return scope.Allocate(count, allocate.dtype) && Exec(allocate.body);
}

bool Interpreter::ExecAllocateConst(const tir::AllocateConst& allocate) {
  if (!allocate.data) return Fail("a constant without data cannot be read");
  SetMemory(allocate.buffer_var, {allocate.data->data(), nullptr, static_cast<int64_t>(allocate.data->num_bytes())});
  const bool done = Exec(allocate.body);
  DropMemory(allocate.buffer_var);
  return done;
}

// A buffer with memory only for the bounds, indexed like the whole. A parameter has memory: the bounds are those of the
// function's accesses.
bool Interpreter::ExecRealize(const tir::BufferRealize& realize) {
  const tir::Buffer& buffer = *realize.buffer;
  if (PointerOf(buffer.data).known()) return Exec(realize.body);
  BufferView view;
  view.known = true;
  int64_t count = 1;
  for (size_t i = realize.bounds.size(); i-- > 0;) {
    int64_t min = 0;
    int64_t extent = 0;
    if (!EvalInt(realize.bounds[i]->min, &min) || !EvalInt(realize.bounds[i]->extent, &extent)) return false;
    view.offset = WrapSub(view.offset, WrapMul(min, count));
    view.strides.insert(view.strides.begin(), count);
    view.shape.insert(view.shape.begin(), WrapAdd(min, extent));
    view.mins.insert(view.mins.begin(), min);
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return Fail("an allocation is out of range");
  }
  MemoryScope scope(*this, buffer.data);
  if (!scope.Allocate(count, buffer.dtype)) return false;
  ViewOf(buffer) = std::move(view);
  return Exec(realize.body);
}

bool Interpreter::ExecIf(const tir::IfThenElse& branch) {
  bool value = false;
  if (!EvalBool(branch.condition, &value)) return false;
  NoteBranch(branch.condition, value);
  const tir::Stmt* taken = value ? branch.then_case : branch.else_case;
  return !taken || Exec(taken);
}

bool Interpreter::ExecFor(const tir::For& loop) {
  int64_t min = 0;
  int64_t extent = 0;
  int64_t step = 1;
  if (!EvalInt(loop.min, &min) || !EvalInt(loop.extent, &extent) || !EvalStep(loop, &step)) return false;
  if (extent <= 0) return InitializeEmpty(loop);
  const std::string_view thread_tag = loop.thread_binding ? loop.thread_binding->thread_tag : std::string_view();
  const ConcurrentLoop concurrent(execution_, loop.loop_var, thread_tag, RaceDetector::IsConcurrent(loop));
  return ExecAxis(thread_tag, loop.loop_var, min, extent, loop.body, step);
}

bool Interpreter::EvalStep(const tir::For& loop, int64_t* step) {
  *step = 1;
  if (!loop.step) return true;
  return EvalInt(loop.step, step) && (*step > 0 || Fail(fmt::format("the step of a loop is {}, not positive", *step)));
}

bool Interpreter::ExecLoop(const tir::Var* var, int64_t min, int64_t extent, const tir::Stmt* body, int64_t step,
                           AxisKind kind) {
  const bool is_concurrent = execution_.races && execution_.races->IsInnermost(var);
  const bool is_sampled = execution_.facts && execution_.facts->samples_loops;
  // No sum is greater than the extent.
  for (int64_t i = 0; i < extent; i = step < extent - i ? i + step : extent) {
    if (is_sampled && i > step) i = (extent - 1) / step * step;
    if (is_concurrent) execution_.races->NextIteration(WrapAdd(min, i));
    env().Bind(var, Scalar::Int(WrapAdd(min, i), var->dtype));
    if (kind == AxisKind::kBlocks && !ForgetSharedMemory()) return false;
    if (kind == AxisKind::kThreads) {
      thread_.positions.back().index = i;
      NumberThread(execution_, thread_);
      BindCopies();
    }
    if (Exec(body)) continue;
    const AfterBody after = TakeJump();
    if (after == AfterBody::kFail) return false;
    if (after == AfterBody::kLeave) break;
  }
  env().Unbind(var);
  return true;
}

bool Interpreter::ExecAxis(std::string_view thread_tag, const tir::Var* var, int64_t min, int64_t extent,
                           const tir::Stmt* body, int64_t step) {
  if (!IsThreadTag(thread_tag)) {
    const bool is_block = RaceDetector::IsBlockAxis(thread_tag) && thread_.positions.empty();
    return ExecLoop(var, min, extent, body, step, is_block ? AxisKind::kBlocks : AxisKind::kNone);
  }
  if (const ThreadPosition* bound = thread_.Find(thread_tag)) {
    if (bound->index >= extent) return true;
    env().Bind(var, Scalar::Int(WrapAdd(min, bound->index), var->dtype));
    const bool done = Exec(body) || TakeJump() != AfterBody::kFail;
    env().Unbind(var);
    return done;
  }
  ++execution_.thread_axes;
  bool done = false;
  if (plan_.RunsInLockstep(body)) {
    done = Lockstep(*this).Run(thread_tag, var, min, extent, body);
  } else {
    thread_.positions.push_back({thread_tag, 0});
    done = ExecLoop(var, min, extent, body, /*step=*/1, AxisKind::kThreads);
    thread_.positions.pop_back();
    NumberThread(execution_, thread_);
    BindCopies();
  }
  --execution_.thread_axes;
  return done;
}

Interpreter::AfterBody Interpreter::TakeJump() { return std::exchange(jump_, AfterBody::kFail); }

bool Interpreter::ExecWhile(const tir::While& loop) {
  constexpr int kSampled = 3;
  const bool is_sampled = execution_.facts && execution_.facts->samples_loops;
  for (int i = 0;; i += is_sampled) {
    bool value = false;
    if (!EvalBool(loop.condition, &value)) return false;
    if (!value || i == kSampled) return true;
    if (Exec(loop.body)) continue;
    const AfterBody after = TakeJump();
    if (after != AfterBody::kNext) return after == AfterBody::kLeave;
  }
}

bool Interpreter::EnterBlock(const tir::BlockRealize& realize, bool* active) {
  const tir::Block& block = *realize.block;
  if (realize.iter_values.size() != block.iter_vars.size())
    return Fail("a block has a different number of axes and values");
  if (!EvalBool(realize.predicate, active)) return false;
  if (!*active) return true;
  // All values are computed before the first is bound: they belong to the scope outside.
  const size_t base = axis_values_.size();
  for (const PrimExpr* expr : realize.iter_values) {
    int64_t value = 0;
    if (!EvalInt(expr, &value)) return false;
    axis_values_.push_back(value);
  }
  for (size_t i = 0; i < block.iter_vars.size(); ++i) {
    const tir::Var* var = block.iter_vars[i]->var;
    env().Bind(var, Scalar::Int(axis_values_[base + i], var->dtype));
  }
  axis_values_.resize(base);
  return true;
}

bool Interpreter::ExecBlockRealize(const tir::BlockRealize& realize) {
  bool active = false;
  return EnterBlock(realize, &active) && (!active || ExecBlock(*realize.block));
}

bool Interpreter::ExecBlock(const tir::Block& block) {
  std::vector<std::unique_ptr<MemoryScope>> scopes;
  for (const tir::Buffer* buffer : block.alloc_buffers) {
    int64_t count = 0;
    if (!Declare(*buffer) || !CountElements(*buffer, &count)) return false;
    scopes.push_back(std::make_unique<MemoryScope>(*this, buffer->data));
    if (!scopes.back()->Allocate(count, buffer->dtype)) return false;
  }
  return MatchBuffers(block) && Initialize(block) && Exec(block.body);
}

bool Interpreter::Initialize(const tir::Block& block) {
  bool first = false;
  return !block.init || (AtFirstReduction(block, &first) && (!first || Exec(block.init)));
}

bool Interpreter::InitializeEmpty(const tir::For& loop) {
  const std::vector<tir::ReductionNest> nests = tir::FindReductionNests(loop);
  return std::ranges::all_of(nests, [&](const tir::ReductionNest& nest) { return InitializeEmpty(nest, 0); });
}

bool Interpreter::IsInitialized(const tir::ReductionNest& nest, bool* result) {
  *result = true;
  for (const PrimExpr* condition : nest.conditions) {
    if (!EvalBool(condition, result)) return false;
    if (!*result) return true;
  }
  for (const tir::IterVar* axis : nest.outer_axes) {
    int64_t value = 0, min = 0;
    if (!EvalInt(nest.ValueOf(axis), &value) || !EvalInt(axis->dom->min, &min)) return false;
    *result = *result && value == min;
  }
  return true;
}

bool Interpreter::InitializeEmpty(const tir::ReductionNest& nest, size_t depth) {
  if (depth < nest.loops.size()) {
    const tir::For& loop = *nest.loops[depth];
    int64_t min = 0;
    int64_t extent = 1;
    if (!EvalInt(loop.min, &min) || (!nest.IsReduction(loop) && !EvalInt(loop.extent, &extent))) return false;
    for (int64_t i = 0; i < extent; ++i) {
      env().Bind(loop.loop_var, Scalar::Int(WrapAdd(min, i), loop.loop_var->dtype));
      if (!InitializeEmpty(nest, depth + 1)) return false;
    }
    env().Unbind(loop.loop_var);
    return true;
  }
  bool is_initialized = false;
  if (!IsInitialized(nest, &is_initialized)) return false;
  if (!is_initialized) return true;
  const tir::Block& block = *nest.realize->block;
  for (size_t i = 0; i < block.iter_vars.size(); ++i) {
    const tir::IterVar& axis = *block.iter_vars[i];
    const bool reduces = axis.iter_type == tir::IterVarType::kCommReduce;
    int64_t value = 0;
    if (!EvalInt(reduces ? axis.dom->min : nest.realize->iter_values[i], &value)) return false;
    env().Bind(axis.var, Scalar::Int(value, axis.var->dtype));
  }
  return Exec(block.init);
}

// Returns whether every reduction axis has its first value: then a block initializes the reduction.
bool Interpreter::AtFirstReduction(const tir::Block& block, bool* first) {
  *first = true;
  for (const tir::IterVar* axis : block.iter_vars) {
    if (axis->iter_type != tir::IterVarType::kCommReduce) continue;
    const Scalar* value = env().Find(axis->var);
    int64_t min = 0;
    if (!value || !EvalInt(axis->dom->min, &min)) return Fail(fmt::format("axis '{}' has no value", axis->var->name));
    *first = *first && value->integer == min;
  }
  return true;
}

// For its effects. T.ret ends the function, T.break_loop the loop, T.continue_loop one iteration: like an error they
// end all statements up to there.
bool Interpreter::ExecEvaluate(const tir::Evaluate& evaluate) {
  const tir::Call* call = CallOf(evaluate.value, op::kTirRet);
  if (call && call->args.size() == 1) {
    returned_ = Eval(call->args[0], &result_);
    return false;
  }
  const bool leaves = CallOf(evaluate.value, op::kTirBreakLoop) != nullptr;
  if (leaves || CallOf(evaluate.value, op::kTirContinueLoop)) {
    jump_ = leaves ? AfterBody::kLeave : AfterBody::kNext;
    return false;
  }
  Scalar ignored;
  return Eval(evaluate.value, &ignored);
}

// ---- Functions

namespace {

// The limit of work bounds recursion, but frames take memory, too.
constexpr int kMaxDepth = 1000;

}  // namespace

bool Interpreter::CallFunction(const tir::Call& call, const GlobalVar& callee, Scalar* result) {
  const ModuleEntry* entry = execution_.module ? execution_.module->Find(&callee) : nullptr;
  const auto* func = entry ? As<PrimFunc>(entry->func) : nullptr;
  if (!func) return Fail(fmt::format("the module has no PrimFunc '{}' to call", callee.name));
  if (func->params.size() != call.args.size())
    return Fail(
        fmt::format("'{}' has {} parameters for {} arguments", callee.name, func->params.size(), call.args.size()));
  if (execution_.depth >= kMaxDepth) return Fail("calls are nested too deep", ErrorCode::Budget);
  Interpreter inner(execution_);
  const auto run = [&] {
    for (size_t i = 0; i < call.args.size(); ++i) {
      Scalar value;
      if (!Eval(call.args[i], &value)) return false;
      if (!inner.BindParam(func->params[i], func->param_buffers[i], value)) return false;
    }
    return inner.Run(*func);
  };
  ++execution_.depth;
  const bool done = run();
  --execution_.depth;
  if (!done)
    return failed() ? false : Fail(fmt::format("in '{}': {}", callee.name, inner.error().message), inner.error().code);
  *result = inner.returned();
  const DataType dtype = call.dtype.with_lanes(1);
  return call.dtype.is_void() || dtype == result->dtype || CastScalar(inner.returned(), dtype, result) ||
         Fail(fmt::format("'{}' does not return a {}", callee.name, dtype.ToString()));
}

}  // namespace iropt::eval
