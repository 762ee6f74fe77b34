// Loops.
#include <fmt/format.h>

#include "iropt/eval/tir/thread_sync.h"
#include "stmt_emitter.h"

namespace iropt::codegen {

void StmtEmitter::EmitFor(const tir::For& loop) {
  // Scripts have no threads with a step.
  if (loop.step && loop.thread_binding)
    return frame_.state().Unsupported(fmt::format("cannot compile {}", NodeKindName(loop.kind)));
  if (loop.step)
    return loops_.EmitSerial(
        loop, [&] { Emit(loop.body); }, LoopKind::kOfProgram);
  const LoopRange range = loops_.RangeOf(loop.loop_var, loop.min, loop.extent);
  if (loop.thread_binding) {
    if (inits_.MayBeEmpty(loop)) inits_.EmitIfEmpty(loop);
    return EmitAxis(range, loop.thread_binding->thread_tag, loop.body);
  }
  inits_.Around(loop, [&] {
    if (loop.for_kind != tir::ForKind::kParallel || !EmitParallel(loop, range))
      loops_.EmitLoop(
          range, HintOf(loop), [&] { Emit(loop.body); }, LoopKind::kOfProgram);
  });
}

void StmtEmitter::EmitAxis(const LoopRange& range, std::string_view thread_tag, const tir::Stmt* body) {
  const bool is_thread = IsThreadTag(thread_tag);
  const ThreadPlace* bound = is_thread ? memory_.FindPlace(thread_tag) : nullptr;
  if (bound) {
    llvm::Value* index = b().CreateSub(exprs_.EmitInt(bound->range.var), bound->range.min);
    frame_.If(b().CreateICmpSLT(index, range.extent), [&] {
      loops_.BindLoopVar(range, index);
      Emit(body);
    });
  } else if (is_thread && plan_.RunsInLockstep(body)) {
    lockstep_.EmitSpread(range, thread_tag, body);
  } else if (is_thread) {
    ++exprs_.thread_axes;
    memory_.Enter(thread_tag, range);
    loops_.EmitLoop(range, LoopHint::kNone, [&] {
      memory_.BindAllCopies();
      Emit(body);
    });
    memory_.Leave();
    --exprs_.thread_axes;
  } else {
    loops_.EmitLoop(range, LoopHint::kNone, [&] { Emit(body); });
  }
}

}  // namespace iropt::codegen
