#include "loop_emitter.h"

#include <algorithm>

#include "iropt/ir/tir/visitor.h"

namespace iropt::codegen {

namespace {

// The maximum trip count of T.unroll loops, and of statements in all of their iterations, as the time that LLVM takes
// grows faster than their number. LLVM decides about longer ones.
constexpr int64_t kMaxUnrolled = 64;
constexpr int64_t kMaxUnrolledStmts = 1024;
// LLVM unrolls shorter loops by itself.
constexpr int64_t kMaxShort = 8;

// Counts the statements of a loop that is unrolled, up to a maximum.
class UnrolledStmts : public tir::StmtExprVisitor {
 public:
  bool FitsIn(const tir::For& loop) {
    VisitStmt(&loop);
    return count_ <= kMaxUnrolledStmts;
  }

 protected:
  void VisitFor(const tir::For* loop) override {
    const auto* extent = As<tir::IntImm>(loop->extent);
    const int64_t max = loop->for_kind == tir::ForKind::kUnrolled ? kMaxUnrolled : kMaxShort;
    const bool unrolls = extent && extent->value <= max && loop->for_kind != tir::ForKind::kVectorized;
    const int64_t outer = copies_;
    copies_ *= unrolls ? std::max<int64_t>(extent->value, 1) : 1;
    if (copies_ > kMaxUnrolledStmts) count_ = copies_;
    if (count_ <= kMaxUnrolledStmts) VisitStmt(loop->body);
    copies_ = outer;
  }
  void VisitBufferStore(const tir::BufferStore*) override { count_ += copies_; }
  void VisitEvaluate(const tir::Evaluate*) override { count_ += copies_; }

 private:
  int64_t copies_ = 1;
  int64_t count_ = 0;
};

}  // namespace

LoopHint HintOf(const tir::For& loop) {
  if (loop.for_kind == tir::ForKind::kVectorized) return LoopHint::kVectorize;
  const auto* extent = As<tir::IntImm>(loop.extent);
  const bool unrolls = loop.for_kind == tir::ForKind::kUnrolled && extent && extent->value <= kMaxUnrolled;
  return unrolls && UnrolledStmts().FitsIn(loop) ? LoopHint::kUnroll : LoopHint::kNone;
}

LoopRange LoopEmitter::RangeOf(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent) {
  return {var, min ? exprs_.EmitInt(min) : frame_.Int64(0), exprs_.EmitInt(extent), min, extent};
}

// Counts in the dtype of the variable if that cannot overflow, as a loop in C does.
void LoopEmitter::EmitLoop(const LoopRange& range, LoopHint hint, FunctionRef<void()> body, LoopKind kind) {
  llvm::Value* extent = range.extent;
  if (FitsVariable(range)) extent = frame_.b().CreateTrunc(extent, frame_.types().Register(range.var->dtype));
  const auto iteration = [&](llvm::Value* i) {
    const IndexRanges::Assumption assumption(exprs_.ranges(), IndexRanges::LoopExtent{range.extent_expr});
    BindLoopVar(range, i);
    body();
  };
  frame_.Loop(extent, hint, iteration, kind);
}

void LoopEmitter::EmitSerial(const tir::For& loop, FunctionRef<void()> body, LoopKind kind) {
  const LoopRange range = RangeOf(loop.loop_var, loop.min, loop.extent);
  if (!loop.step) return EmitLoop(range, HintOf(loop), body, kind);
  EmitSteps(range, exprs_.EmitInt(loop.step), HintOf(loop), body, kind);
}

void LoopEmitter::EmitSteps(const LoopRange& range, llvm::Value* step, LoopHint hint, FunctionRef<void()> body,
                            LoopKind kind) {
  const auto iteration = [&](llvm::Value* i) {
    const IndexRanges::Assumption assumption(exprs_.ranges(), IndexRanges::LoopExtent{range.extent_expr});
    BindLoopVar(range, frame_.b().CreateMul(i, step));
    body();
  };
  frame_.Loop(CountSteps(range.extent, step), hint, iteration, kind);
}

llvm::Value* LoopEmitter::CountSteps(llvm::Value* extent, llvm::Value* step) {
  if (!step) return extent;
  llvm::IRBuilder<>& b = frame_.b();
  frame_.FailIf(b.CreateICmpSLE(step, frame_.Int64(0)), "the step of a loop is {}, not positive", step);
  return b.CreateSDiv(b.CreateAdd(extent, b.CreateSub(step, frame_.Int64(1))), step);
}

// Returns whether all values of the variable are in the range of its dtype.
bool LoopEmitter::FitsVariable(const LoopRange& range) {
  const IntRange min = range.min_expr ? exprs_.ranges().Of(range.min_expr) : IntRange{0, 0};
  if (range.extent_expr->dtype == range.var->dtype && min.min == 0 && min.max == 0) return true;
  const IntRange extent = exprs_.ranges().Of(range.extent_expr);
  const IntRange all = IntRange::Of(range.var->dtype);
  int64_t end = 0;
  return min.min >= all.min && extent.max <= all.max && !__builtin_add_overflow(min.max, extent.max, &end) &&
         end <= all.max;
}

void LoopEmitter::BindLoopVar(const LoopRange& range, llvm::Value* i) {
  const DataType dtype = range.var->dtype;
  llvm::Type* type = frame_.types().Register(dtype);
  const bool fits = FitsVariable(range);
  llvm::Value* min = frame_.b().CreateTrunc(range.min, type);
  const bool from_zero = llvm::isa<llvm::ConstantInt>(range.min) && llvm::cast<llvm::ConstantInt>(range.min)->isZero();
  i = frame_.b().CreateZExtOrTrunc(i, type);
  exprs_.scope().Bind(range.var, from_zero ? i : frame_.b().CreateAdd(min, i, "", false, fits && dtype.is_int()));
  if (!fits) return exprs_.ranges().Bind(range.var, IntRange::Of(dtype));
  const IntRange mins = range.min_expr ? exprs_.ranges().Of(range.min_expr) : IntRange{0, 0};
  const IntRange extent = exprs_.ranges().Of(range.extent_expr);
  int64_t last = 0;
  if (__builtin_add_overflow(mins.max, extent.max - 1, &last)) last = IntRange::Of(dtype).max;
  const bool is_zero = mins.min == 0 && mins.max == 0;
  exprs_.ranges().Bind(range.var, {mins.min, std::min(last, IntRange::Of(dtype).max)},
                       is_zero ? range.extent_expr : nullptr);
}

}  // namespace iropt::codegen
