// Loops, and hoisting of the initialization of reductions.
#include <fmt/format.h>

#include <algorithm>

#include "block_parts.h"
#include "iropt/eval/tir/thread_sync.h"
#include "iropt/ir/module.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsics.h"
#include "stmt_emitter.h"

namespace iropt::codegen {

namespace {

// The maximum trip count of T.unroll loops. LLVM decides about longer ones.
constexpr int64_t kMaxUnrolled = 64;

LoopHint HintOf(const tir::For& loop) {
  if (loop.for_kind == tir::ForKind::kVectorized) return LoopHint::kVectorize;
  const auto* extent = As<tir::IntImm>(loop.extent);
  const bool unrolls = loop.for_kind == tir::ForKind::kUnrolled && extent && extent->value <= kMaxUnrolled;
  return unrolls ? LoopHint::kUnroll : LoopHint::kNone;
}

}  // namespace

void StmtEmitter::EmitFor(const tir::For& loop) {
  const LoopRange range = loops_.RangeOf(loop.loop_var, loop.min, loop.extent);
  if (loop.thread_binding) return EmitAxis(range, loop.thread_binding->thread_tag, loop.body);
  const tir::Block* block = InitializeBefore(loop);
  if (block) initialized_.insert(block);
  if (loop.for_kind != tir::ForKind::kParallel || !EmitParallel(loop, range))
    loops_.EmitLoop(range, HintOf(loop), [&] { Emit(loop.body); });
  if (block) initialized_.erase(block);
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

// ---- Hoisting of initializations
//
// A reduction block initializes its result in the iteration in which all its reduction axes have their first value. In
//
//   for i: for k: with block: vi, vk = i, k; with init: C[vi] = 0; C[vi] += A[vi, vk]
//
// this is the first iteration of k, so that the initialization can be hoisted out of the loop of k, where it costs
// nothing and does not prevent vectorization. Loops over other axes inside of it are duplicated for the initialization.
// This requires that the block accesses its result only at the initialized elements.

namespace {

// A loop nest around a block with an initialization.
struct ReductionNest {
  std::vector<const tir::For*> loops;
  const tir::BlockRealize* realize = nullptr;
  std::unordered_set<const tir::Var*> reduced;  // variables of loops that run over reduction axes
  bool Reduces(const tir::For& loop) const { return reduced.contains(loop.loop_var); }
};

bool Uses(const PrimExpr* expr, const std::unordered_set<const tir::Var*>& vars) { return tir::UsesAnyOf(vars, expr); }

// Returns whether the expression is a sum of loop variables times positive constants, which is 0 only if all of them
// are 0.
bool IsPositiveSum(const PrimExpr* expr, const std::unordered_set<const tir::Var*>& loop_vars,
                   std::unordered_set<const tir::Var*>& summands) {
  if (const auto* var = As<tir::Var>(expr)) return loop_vars.contains(var) && (summands.insert(var), true);
  const auto* binary = tir::BinaryExpr::ClassOf(expr->kind) ? static_cast<const tir::BinaryExpr*>(expr) : nullptr;
  if (!binary) return false;
  if (expr->kind == NodeKind::kAdd)
    return IsPositiveSum(binary->a, loop_vars, summands) && IsPositiveSum(binary->b, loop_vars, summands);
  const auto* factor = As<tir::IntImm>(binary->b);
  return expr->kind == NodeKind::kMul && factor && factor->value > 0 && IsPositiveSum(binary->a, loop_vars, summands);
}

bool IsZero(const PrimExpr* expr) {
  const auto* value = As<tir::IntImm>(expr);
  return value && value->value == 0;
}

// Returns the loop nest with this outermost loop; `realize` is null if its block has no initialization.
ReductionNest FindNest(const tir::For& loop) {
  ReductionNest nest;
  const tir::Stmt* stmt = &loop;
  while (const auto* inner = As<tir::For>(stmt)) {
    if (inner->thread_binding) return nest;
    nest.loops.push_back(inner);
    stmt = inner->body;
  }
  const auto* realize = As<tir::BlockRealize>(stmt);
  const bool plain = realize && realize->block->init && realize->block->alloc_buffers.empty() &&
                     realize->block->match_buffers.empty() &&
                     realize->iter_values.size() == realize->block->iter_vars.size();
  if (plain) nest.realize = realize;
  return nest;
}

// Finds the loops over reduction axes. Returns false if the first values of the axes are not those of the first
// iteration.
bool FindReductionLoops(ReductionNest& nest) {
  std::unordered_set<const tir::Var*> vars;
  for (const tir::For* loop : nest.loops) vars.insert(loop->loop_var);
  const tir::Block& block = *nest.realize->block;
  for (size_t i = 0; i < block.iter_vars.size(); ++i) {
    const PrimExpr* value = nest.realize->iter_values[i];
    if (block.iter_vars[i]->iter_type != tir::IterVarType::kCommReduce || !Uses(value, vars)) continue;
    if (!block.iter_vars[i]->dom || !IsZero(block.iter_vars[i]->dom->min) || !IsPositiveSum(value, vars, nest.reduced))
      return false;
  }
  for (size_t i = 0; i < block.iter_vars.size(); ++i) {
    const bool reduces = block.iter_vars[i]->iter_type == tir::IterVarType::kCommReduce;
    if (!reduces && Uses(nest.realize->iter_values[i], nest.reduced)) return false;
  }
  return std::ranges::all_of(nest.loops, [&](const tir::For* loop) {
    const bool from_zero = !nest.Reduces(*loop) || IsZero(loop->min);
    return from_zero && !Uses(loop->min, nest.reduced) && !Uses(loop->extent, nest.reduced);
  });
}

// Collects the accesses to buffers.
class AccessCollector : public tir::StmtExprVisitor {
 public:
  struct Access {
    const tir::Buffer* buffer;
    List<const PrimExpr*> indices;
  };
  std::vector<Access> accesses;
  bool is_opaque = false;  // there are accesses through pointers

 protected:
  void VisitBufferStore(const tir::BufferStore* store) override {
    accesses.push_back({store->buffer, store->indices});
    StmtExprVisitor::VisitBufferStore(store);
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    accesses.push_back({load->buffer, load->indices});
    StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitCall(const tir::Call* call) override {
    const auto* op = As<Op>(call->op);
    is_opaque = is_opaque || !op || EffectOf(op) > CallEffect::kPure;
    StmtExprVisitor::VisitCall(call);
  }
};

// Returns whether the block accesses the initialized buffers only at the initialized elements.
bool AccessesOnePlace(const tir::Block& block) {
  AccessCollector init;
  init.VisitStmt(block.init);
  AccessCollector body;
  body.VisitStmt(block.body);
  const auto same = [](const AccessCollector::Access& a, const AccessCollector::Access& b) {
    return a.indices.size() == b.indices.size() &&
           std::equal(a.indices.begin(), a.indices.end(), b.indices.begin(),
                      [](const PrimExpr* x, const PrimExpr* y) { return StructuralEqual(x, y); });
  };
  if (init.is_opaque || body.is_opaque) return false;
  return std::ranges::all_of(body.accesses, [&](const AccessCollector::Access& access) {
    return std::ranges::all_of(init.accesses, [&](const AccessCollector::Access& start) {
      return start.buffer->data != access.buffer->data || (start.buffer == access.buffer && same(start, access));
    });
  });
}

}  // namespace

const tir::Block* StmtEmitter::InitializeBefore(const tir::For& loop) {
  ReductionNest nest = FindNest(loop);
  if (!nest.realize || initialized_.contains(nest.realize->block) || !FindReductionLoops(nest) || !nest.Reduces(loop))
    return nullptr;
  const bool all_reduce = std::ranges::all_of(nest.loops, [&](const tir::For* inner) { return nest.Reduces(*inner); });
  if (!all_reduce && !AccessesOnePlace(*nest.realize->block)) return nullptr;
  const std::function<void(size_t)> initialize = [&](size_t depth) {
    if (depth == nest.loops.size()) {
      frame_.If(exprs_.EmitBool(nest.realize->predicate), [&] {
        const IndexRanges::Assumption assumption(exprs_.ranges(), nest.realize->predicate);
        BindAxes(*nest.realize);
        frame_.If(IsFirstReduction(*nest.realize->block, exprs_), [&] { Emit(nest.realize->block->init); });
      });
      return;
    }
    const tir::For& inner = *nest.loops[depth];
    if (!nest.Reduces(inner))
      return loops_.EmitLoop(loops_.RangeOf(inner.loop_var, inner.min, inner.extent), HintOf(inner),
                             [&] { initialize(depth + 1); });
    // If there is no first iteration, the result is the identity of the reduction.
    exprs_.scope().Bind(inner.loop_var, llvm::ConstantInt::get(frame_.types().Register(inner.loop_var->dtype), 0));
    exprs_.ranges().Bind(inner.loop_var, {0, 0});
    initialize(depth + 1);
  };
  const Scope::Mark outer = exprs_.scope().mark();
  initialize(0);
  exprs_.scope().Rewind(outer);
  return nest.realize->block;
}

}  // namespace iropt::codegen
