#include "lockstep_emitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "block_parts.h"
#include "iropt/eval/tir/thread_sync.h"
#include "iropt/ir/assertion.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/op/assert_message.h"
#include "iropt/support/stack.h"
#include "stmt_emitter.h"

namespace iropt::codegen {

namespace {

constexpr std::string_view kDiverges = "control flow around a synchronization of threads is not uniform";

}  // namespace

// ---- Threads

llvm::Value* LockstepEmitter::CountThreads() {
  llvm::Value* count = frame_.Int64(1);
  for (const LoopRange& axis : threads_) count = b().CreateMul(count, axis.extent);
  return count;
}

llvm::Value* LockstepEmitter::ThreadIndex(size_t axes, bool of_warp) {
  llvm::Value* index = frame_.Int64(0);
  for (const LoopRange& axis : std::span(threads_).first(axes)) {
    const ThreadPlace* place = memory_.FindPlace(axis.var);
    if (of_warp && place && place->tag == "threadIdx.x") continue;
    llvm::Value* own = b().CreateSub(exprs_.EmitInt(axis.var), axis.min);
    index = b().CreateAdd(b().CreateMul(index, axis.extent), own);
  }
  return index;
}

void LockstepEmitter::ForThreads(llvm::ArrayRef<const LoopRange*> axes, FunctionRef<void()> body) {
  if (axes.empty()) return body();
  loops_.EmitLoop(*axes.front(), LoopHint::kNone, [&] { ForThreads(axes.drop_front(), body); });
}

void LockstepEmitter::ForEachThread(FunctionRef<void()> body) {
  llvm::SmallVector<const LoopRange*, 3> axes;
  for (const LoopRange& axis : threads_) axes.push_back(&axis);
  ForThreads(axes, [&] { WithOwn(0, body); });
}

void LockstepEmitter::WithOwn(size_t begin, FunctionRef<void()> body) {
  for (size_t i = begin; i < own_.size(); ++i) {
    if (!own_[i].is_active) {
      own_[i].bind();
      continue;
    }
    frame_.If(own_[i].is_active(), [&] { WithOwn(i + 1, body); });
    return;
  }
  body();
}

void LockstepEmitter::EmitSpread(const LoopRange& range, std::string_view thread_tag, const tir::Stmt* body) {
  const Scope::Mark outer = exprs_.scope().mark();
  const size_t own_before = own_.size();
  // Copies that these threads allocate are bound as part of their own memory.
  if (threads_.empty() && memory_.has_copies())
    BindForEach([this, count = memory_.mark().copies] { memory_.BindCopies(count); });
  threads_.push_back(range);
  memory_.Enter(thread_tag, range);
  frame_.FailIf(b().CreateOr(b().CreateICmpSGT(range.extent, frame_.Int64(kMaxLockstepThreads)),
                             b().CreateICmpSGT(CountThreads(), frame_.Int64(kMaxLockstepThreads))),
                fmt::format("more than {} threads run in lockstep", kMaxLockstepThreads));
  llvm::Value* mark = frame_.Mark();
  SpreadLocalMemory(thread_tag);
  Emit(body);
  frame_.Release(mark);
  threads_.pop_back();
  memory_.Leave();
  own_.resize(own_before);
  exprs_.scope().Rewind(outer);
}

// Runs the body by the threads of an axis, which may be running already.
void LockstepEmitter::EmitAxis(const LoopRange& range, std::string_view thread_tag, const tir::Stmt* body) {
  const ThreadPlace* bound = memory_.FindPlace(thread_tag);
  if (!bound) return EmitSpread(range, thread_tag, body);
  const auto index = [this, outer = bound->range] { return b().CreateSub(exprs_.EmitInt(outer.var), outer.min); };
  const auto is_active = [this, index, range] { return b().CreateICmpSLT(index(), range.extent); };
  if (plan_.Synchronizes(body)) {
    ForEachThread([&] { frame_.FailIf(b().CreateNot(is_active()), kDiverges); });
  } else {
    own_.push_back({nullptr, is_active});
  }
  BindForEach([this, index, range] { loops_.BindLoopVar(range, index()); });
  Emit(body);
}

llvm::Value* LockstepEmitter::AllocateOwn(llvm::Value* bytes) {
  return frame_.Allocate(b().CreateMul(CountThreads(), bytes), 1);
}

void LockstepEmitter::SpreadLocalMemory(std::string_view thread_tag) {
  for (const tir::Var* data : memory_.local()) {
    const ThreadMemory* layout = plan_.LayoutOf(data);
    if (layout && layout->IsShared(thread_tag)) continue;
    const TypedValue* outer = exprs_.scope().Find(data);
    if (!outer || !outer->size) continue;
    llvm::Value* size = outer->size;
    llvm::Value* copies = AllocateOwn(size);
    const auto own = [this, copies, size, axes = threads_.size()] {
      return b().CreateGEP(b().getInt8Ty(), copies, b().CreateMul(ThreadIndex(axes), size));
    };
    ForEachThread([&] {
      b().CreateMemCpy(own(), llvm::MaybeAlign(), exprs_.scope().Find(data)->value, llvm::MaybeAlign(), size);
    });
    BindForEach([this, data, own, size] {
      exprs_.scope().Bind(data, {.value = own(), .origin = frame_.Int64(0), .size = size});
    });
  }
}

void LockstepEmitter::Allocate(const tir::Var* data, llvm::Value* count, DataType dtype) {
  llvm::Value* size = b().CreateMul(count, frame_.Int64(dtype.with_lanes(1).bytes() * dtype.lanes));
  if (!ValueTypes::IsStored(dtype))
    return frame_.state().Unsupported(fmt::format("cannot allocate elements of {}", dtype.ToString()));
  if (IsBlockMemory(data) && !IsThreadMemory(data)) {
    llvm::Value* memory = frame_.Allocate(size, 1);
    return exprs_.scope().Bind(data, {.value = memory, .origin = frame_.Int64(0), .size = size});
  }
  if (plan_.HasCopies(data)) return AllocateCopies(data, count, dtype);
  llvm::Value* memory = AllocateOwn(size);
  if (IsThreadMemory(data)) memory_.AddLocal(data);
  BindForEach([this, data, memory, size, axes = threads_.size()] {
    llvm::Value* index = ThreadIndex(axes, /*of_warp=*/IsBlockMemory(data));
    llvm::Value* own = b().CreateGEP(b().getInt8Ty(), memory, b().CreateMul(index, size));
    exprs_.scope().Bind(data, {.value = own, .origin = frame_.Int64(0), .size = size});
  });
}

// Each thread in lockstep has the copies for the threads of the axes inside of the allocation.
void LockstepEmitter::AllocateCopies(const tir::Var* data, llvm::Value* count, DataType dtype) {
  const ThreadMemoryEmitter::CopiesRef copies =
      memory_.MakeCopies(data, count, dtype, [&](const PrimExpr* expr) { return EmitUniform(expr); });
  std::vector<std::pair<llvm::Value*, llvm::Value*>> parts;  // memory of all threads, bytes of a thread
  for (llvm::Value* number : copies->counts) {
    llvm::Value* bytes = b().CreateMul(number, copies->size);
    parts.emplace_back(AllocateOwn(bytes), bytes);
  }
  memory_.AddCopies(copies);
  BindForEach([this, copies, parts, axes = threads_.size()] {
    copies->memory.clear();
    for (const auto& [memory, bytes] : parts)
      copies->memory.push_back(b().CreateGEP(b().getInt8Ty(), memory, b().CreateMul(ThreadIndex(axes), bytes)));
    memory_.BindCopies(*copies, /*is_new=*/true);
  });
}

void LockstepEmitter::BindOwn(const tir::Var* var, DataType dtype, FunctionRef<llvm::Value*()> value) {
  if (dtype.is_handle())
    return frame_.state().Unsupported("a LetStmt with a pointer around a synchronization of threads is not supported");
  llvm::Type* type = frame_.types().Register(dtype);
  const auto bytes = static_cast<int64_t>(frame_.state().module.getDataLayout().getTypeAllocSize(type));
  llvm::Value* memory = AllocateOwn(frame_.Int64(bytes));
  const auto place = [this, memory, type, axes = threads_.size()] {
    return b().CreateGEP(type, memory, ThreadIndex(axes));
  };
  ForEachThread([&] { b().CreateStore(value(), place()); });
  BindForEach([this, var, type, place] { exprs_.scope().Bind(var, b().CreateLoad(type, place())); });
}

llvm::Value* LockstepEmitter::EmitUniform(const PrimExpr* expr) {
  llvm::Value* slot = frame_.StackSlot(b().getInt64Ty());
  llvm::Value* known = frame_.StackSlot(b().getInt1Ty());
  b().CreateStore(frame_.Int64(0), slot);
  b().CreateStore(b().getFalse(), known);
  ForEachThread([&] {
    llvm::Value* own = exprs_.EmitInt(expr);
    llvm::Value* differs = b().CreateICmpNE(b().CreateLoad(b().getInt64Ty(), slot), own);
    frame_.FailIf(b().CreateAnd(b().CreateLoad(b().getInt1Ty(), known), differs), kDiverges);
    b().CreateStore(own, slot);
    b().CreateStore(b().getTrue(), known);
  });
  return b().CreateLoad(b().getInt64Ty(), slot);
}

LockstepEmitter::OwnInts LockstepEmitter::StoreOwn(FunctionRef<llvm::Value*()> value) {
  llvm::Value* memory = AllocateOwn(frame_.Int64(8));
  OwnInts load = [this, memory, axes = threads_.size()](llvm::Value* stored) -> llvm::Value* {
    llvm::Value* place = b().CreateGEP(b().getInt64Ty(), memory, ThreadIndex(axes));
    if (stored) b().CreateStore(stored, place);
    return stored ? stored : b().CreateLoad(b().getInt64Ty(), place);
  };
  ForEachThread([&] { load(value()); });
  return load;
}

void LockstepEmitter::WhereActive(const OwnInts& value, bool expected, FunctionRef<void()> body) {
  const size_t before = own_.size();
  own_.push_back({nullptr, [this, value, expected] {
                    llvm::Value* holds = b().CreateICmpNE(value(nullptr), frame_.Int64(0));
                    return expected ? holds : b().CreateNot(holds);
                  }});
  body();
  own_.resize(before);
}

// ---- Statements

void LockstepEmitter::Emit(const tir::Stmt* stmt) {
  if (!plan_.RunsInLockstep(stmt)) return ForEachThread([&] { stmts_.Emit(stmt); });
  const size_t own_before = own_.size();
  const ThreadMemoryEmitter::Mark outer = memory_.mark();
  WithStack([&] { EmitNode(stmt); });
  own_.resize(own_before);
  memory_.Rewind(outer);
}

// Memory that an iteration allocates is freed before the next one.
void LockstepEmitter::EmitReleasing(const tir::Stmt* body) {
  llvm::Value* mark = frame_.Mark();
  Emit(body);
  frame_.Release(mark);
}

void LockstepEmitter::EmitNode(const tir::Stmt* stmt) {
  switch (stmt->kind) {
    case NodeKind::kSeqStmt:
      for (const tir::Stmt* s : To<tir::SeqStmt>(stmt)->seq) Emit(s);
      return;
    case NodeKind::kFor: return EmitFor(*To<tir::For>(stmt));
    case NodeKind::kWhile: return EmitWhile(*To<tir::While>(stmt));
    case NodeKind::kIfThenElse: return EmitIf(*To<tir::IfThenElse>(stmt));
    case NodeKind::kAttrStmt: return EmitAttr(*To<tir::AttrStmt>(stmt));
    case NodeKind::kLetStmt: {
      const auto* let = To<tir::LetStmt>(stmt);
      BindOwn(let->var, let->value->dtype, [&] { return exprs_.Emit(let->value); });
      return Emit(let->body);
    }
    case NodeKind::kAllocate: {
      const auto* allocate = To<tir::Allocate>(stmt);
      llvm::SmallVector<llvm::Value*, 4> extents;
      for (const PrimExpr* extent : allocate->extents) extents.push_back(EmitUniform(extent));
      Allocate(allocate->buffer_var, exprs_.buffers().CountElements(extents), allocate->dtype);
      return Emit(allocate->body);
    }
    case NodeKind::kDeclBuffer: {
      const auto* declaration = To<tir::DeclBuffer>(stmt);
      BindForEach([this, declaration] { exprs_.buffers().Declare(*declaration->buffer); });
      return Emit(declaration->body);
    }
    case NodeKind::kAssertStmt: {
      const auto* assertion = To<tir::AssertStmt>(stmt);
      ForEachThread([&] {
        frame_.FailIf(b().CreateNot(exprs_.EmitBool(assertion->condition)),
                      AssertionFailure(AssertMessageText(assertion->message)));
      });
      return Emit(assertion->body);
    }
    case NodeKind::kBlockRealize: return EmitBlock(*To<tir::BlockRealize>(stmt));
    case NodeKind::kEvaluate: return EmitEvaluate(*To<tir::Evaluate>(stmt));
    default:
      frame_.state().Unsupported(
          fmt::format("threads that run in lockstep within {} are not supported", NodeKindName(stmt->kind)));
  }
}

void LockstepEmitter::EmitFor(const tir::For& loop) {
  if (inits_.MayBeEmpty(loop)) ForEachThread([&] { inits_.EmitIfEmpty(loop); });
  const std::string_view tag = loop.thread_binding ? loop.thread_binding->thread_tag : std::string_view();
  const bool is_constant = Is<tir::IntImm>(loop.min) && Is<tir::IntImm>(loop.extent) && !loop.step;
  if (IsThreadTag(tag) || is_constant || plan_.Synchronizes(&loop)) {
    const LoopRange range{loop.loop_var, EmitUniform(loop.min), EmitUniform(loop.extent), loop.min, loop.extent};
    if (IsThreadTag(tag)) return EmitAxis(range, tag, loop.body);
    const auto body = [&] { EmitReleasing(loop.body); };
    if (!loop.step) return loops_.EmitLoop(range, LoopHint::kNone, body);
    return loops_.EmitSteps(range, EmitUniform(loop.step), LoopHint::kNone, body);
  }
  const OwnInts min = StoreOwn([&] { return exprs_.EmitInt(loop.min); });
  llvm::Value* last = frame_.StackSlot(b().getInt64Ty());
  b().CreateStore(frame_.Int64(0), last);
  const OwnInts extent = StoreOwn([&] {
    llvm::Value* own = loops_.CountSteps(exprs_.EmitInt(loop.extent), StepOf(loop));
    llvm::Value* most = b().CreateLoad(b().getInt64Ty(), last);
    b().CreateStore(b().CreateBinaryIntrinsic(llvm::Intrinsic::smax, most, own), last);
    return own;
  });
  frame_.Loop(b().CreateLoad(b().getInt64Ty(), last), LoopHint::kNone, [&](llvm::Value* i) {
    const size_t before = own_.size();
    own_.push_back({nullptr, [this, i, extent] { return b().CreateICmpSLT(i, extent(nullptr)); }});
    BindForEach([this, i, min, extent, &loop] {
      llvm::Value* step = StepOf(loop);
      llvm::Value* offset = step ? b().CreateMul(i, step) : i;
      loops_.BindLoopVar({loop.loop_var, min(nullptr), extent(nullptr), loop.min, loop.extent}, offset);
    });
    EmitReleasing(loop.body);
    own_.resize(before);
  });
}

void LockstepEmitter::EmitWhile(const tir::While& loop) {
  if (plan_.Synchronizes(&loop)) {
    return frame_.CountedWhile([&] { return b().CreateICmpNE(EmitUniform(loop.condition), frame_.Int64(0)); },
                               [&] { EmitReleasing(loop.body); });
  }
  const OwnInts runs = StoreOwn([&] { return frame_.Int64(1); });
  WhereActive(runs, true, [&] {
    llvm::Value* any = frame_.StackSlot(b().getInt64Ty());
    const auto condition = [&] {
      b().CreateStore(frame_.Int64(0), any);
      ForEachThread([&] {
        llvm::Value* own = runs(b().CreateZExt(exprs_.EmitBool(loop.condition), b().getInt64Ty()));
        b().CreateStore(b().CreateOr(b().CreateLoad(b().getInt64Ty(), any), own), any);
      });
      return b().CreateICmpNE(b().CreateLoad(b().getInt64Ty(), any), frame_.Int64(0));
    };
    frame_.CountedWhile(condition, [&] { EmitReleasing(loop.body); });
  });
}

void LockstepEmitter::EmitIf(const tir::IfThenElse& branch) {
  if (!plan_.Synchronizes(&branch)) {
    const OwnInts chosen = StoreOwn([&] { return exprs_.EmitInt(branch.condition); });
    WhereActive(chosen, true, [&] { Emit(branch.then_case); });
    if (branch.else_case) WhereActive(chosen, false, [&] { Emit(branch.else_case); });
    return;
  }
  llvm::Value* chosen = b().CreateICmpNE(EmitUniform(branch.condition), frame_.Int64(0));
  const auto otherwise = [&] { Emit(branch.else_case); };
  const FunctionRef<void()> else_case(otherwise);
  frame_.If(
      chosen, [&] { Emit(branch.then_case); }, branch.else_case ? &else_case : nullptr);
}

void LockstepEmitter::EmitAttr(const tir::AttrStmt& attr) {
  if (tir::IsThreadKey(attr.attr_key)) {
    const tir::IterVar* axis = tir::ThreadAxisOf(attr);
    if (!axis) return frame_.state().Unsupported("expected a thread axis");
    const bool bound = std::ranges::any_of(threads_, [&](const LoopRange& range) { return range.var == axis->var; });
    if (bound || exprs_.scope().Find(axis->var)) return Emit(attr.body);
    const LoopRange range{axis->var, frame_.Int64(0), EmitUniform(attr.value), nullptr, attr.value};
    if (IsThreadTag(axis->thread_tag)) return EmitAxis(range, axis->thread_tag, attr.body);
    loops_.EmitLoop(range, LoopHint::kNone, [&] { EmitReleasing(attr.body); });
    return exprs_.scope().Unbind(axis->var);
  }
  if (IsUnknownAttribute(attr))
    return frame_.state().Unsupported(fmt::format("the attribute '{}' is not supported", attr.attr_key));
  const auto* combiner = As<tir::CommReducer>(attr.node);
  if (combiner) combiners_.push_back(combiner);
  Emit(attr.body);
  if (combiner) combiners_.pop_back();
}

void LockstepEmitter::EmitBlock(const tir::BlockRealize& realize) {
  const tir::Block& block = *realize.block;
  if (realize.iter_values.size() != block.iter_vars.size())
    return frame_.state().Unsupported(
        "the number of values of a BlockRealize differs from the number of axes of its block");
  const auto run = [&] {
    // The values are outside of the scope of the axes.
    for (size_t i = 0; i < block.iter_vars.size(); ++i) {
      const PrimExpr* value = realize.iter_values[i];
      const DataType dtype = block.iter_vars[i]->var->dtype;
      BindOwn(block.iter_vars[i]->var, dtype,
              [&] { return exprs_.arithmetic().Cast(exprs_.Emit(value), value->dtype, dtype); });
      exprs_.ranges().BindValue(block.iter_vars[i]->var, value);
    }
    for (const tir::Buffer* buffer : block.alloc_buffers) {
      llvm::SmallVector<llvm::Value*, 4> extents;
      for (const PrimExpr* extent : MemoryExtents(*buffer)) extents.push_back(EmitUniform(extent));
      Allocate(buffer->data, exprs_.buffers().CountElements(extents), buffer->dtype);
      BindForEach([this, buffer] { DeclareAllocated(*buffer, exprs_); });
    }
    for (const tir::MatchBufferRegion* match : block.match_buffers)
      BindForEach([this, match] { MatchAnew(*match, exprs_); });
    if (block.init)
      ForEachThread([&] { frame_.If(IsFirstReduction(block, exprs_), [&] { stmts_.Emit(block.init); }); });
    Emit(block.body);
  };
  if (plan_.Synchronizes(&realize))
    return frame_.If(b().CreateICmpNE(EmitUniform(realize.predicate), frame_.Int64(0)), run);
  const auto* always = As<tir::IntImm>(realize.predicate);
  if (always && always->value != 0) return run();
  WhereActive(StoreOwn([&] { return exprs_.EmitInt(realize.predicate); }), true, run);
}

void LockstepEmitter::EmitEvaluate(const tir::Evaluate& evaluate) {
  switch (LockstepCallOf(evaluate.value)) {
    case LockstepCall::kReduction: return EmitAllreduce(*As<tir::Call>(evaluate.value));
    case LockstepCall::kBarrier: return;
    case LockstepCall::kGridBarrier:
      return frame_.state().Unsupported("a synchronization of blocks of threads is not supported");
    case LockstepCall::kOther:
      return frame_.state().Unsupported("a synchronization of threads within an expression is not supported");
  }
}

void LockstepEmitter::EmitAllreduce(const tir::Call& call) {
  const auto reduction = ThreadReduction::Of(call, combiners_.empty() ? nullptr : combiners_.back());
  if (!reduction) {
    return frame_.state().Unsupported(
        "the combiner of a reduction over threads is missing or has another number of values");
  }
  llvm::SmallVector<const LoopRange*, 3> group;
  llvm::SmallVector<const LoopRange*, 3> others;
  for (const LoopRange& axis : threads_) {
    (reduction->IsOver(axis.var) ? group : others).push_back(&axis);
  }
  const auto for_group = [&](FunctionRef<void()> body) { ForThreads(group, [&] { WithOwn(0, body); }); };
  ForThreads(others, [&] {
    llvm::SmallVector<llvm::Value*, 2> sums;
    for (const PrimExpr* identity : reduction->combiner->identity_element) {
      llvm::Value* start = exprs_.Emit(identity);
      sums.push_back(frame_.StackSlot(start->getType()));
      b().CreateStore(start, sums.back());
    }
    for_group([&] {
      frame_.If(exprs_.EmitBool(reduction->condition),
                [&] { exprs_.Combine(*reduction->combiner, reduction->values, sums); });
    });
    for_group([&] {
      for (size_t i = 0; i < reduction->results.size(); ++i) {
        const auto* place = As<tir::BufferLoad>(reduction->results[i]);
        if (!place) return frame_.state().Unsupported("the result of a reduction over threads is not a buffer element");
        const DataType dtype = reduction->combiner->identity_element[i]->dtype;
        llvm::Value* sum = b().CreateLoad(frame_.types().Register(dtype), sums[i]);
        exprs_.buffers().StoreElement(*place->buffer, place->indices,
                                      exprs_.arithmetic().Cast(sum, dtype, place->buffer->dtype));
      }
    });
  });
}

}  // namespace iropt::codegen
