#include "reduction_init.h"

#include <algorithm>
#include <functional>

#include "block_parts.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsics.h"
#include "iropt/support/lookup.h"
#include "stmt_emitter.h"

namespace iropt::codegen {

namespace {

// Returns whether the expression is a sum of loop variables times positive constants, which is 0 only if all of them
// are 0.
bool IsPositiveSum(const PrimExpr* expr, const LookupSet<const tir::Var*>& loop_vars) {
  if (const auto* var = As<tir::Var>(expr)) return loop_vars.contains(var);
  const auto* binary = tir::BinaryExpr::ClassOf(expr->kind) ? static_cast<const tir::BinaryExpr*>(expr) : nullptr;
  if (!binary) return false;
  if (expr->kind == NodeKind::kAdd) return IsPositiveSum(binary->a, loop_vars) && IsPositiveSum(binary->b, loop_vars);
  const auto* factor = As<tir::IntImm>(binary->b);
  return expr->kind == NodeKind::kMul && factor && factor->value > 0 && IsPositiveSum(binary->a, loop_vars);
}

bool IsZero(const PrimExpr* expr) {
  const auto* value = As<tir::IntImm>(expr);
  return value && value->value == 0;
}

// Returns whether the nest consists of loops in each other, none of them over threads.
bool IsStraight(const tir::ReductionNest& nest) {
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    const tir::Stmt* inner =
        i + 1 < nest.loops.size() ? static_cast<const tir::Stmt*>(nest.loops[i + 1]) : nest.realize;
    if (nest.loops[i]->thread_binding || nest.loops[i]->body != inner) return false;
  }
  return true;
}

// Returns whether the axes of the reduction have their first values in the first iteration of its loops, and only
// there.
bool BeginsAtZero(const tir::ReductionNest& nest) {
  LookupSet<const tir::Var*> vars;
  for (const tir::For* loop : nest.loops) {
    if (nest.IsReduction(*loop) && !IsZero(loop->min)) return false;
    vars.insert(loop->loop_var);
  }
  const tir::Block& block = *nest.realize->block;
  for (size_t i = 0; i < block.iter_vars.size(); ++i) {
    const tir::IterVar& axis = *block.iter_vars[i];
    const PrimExpr* value = nest.realize->iter_values[i];
    if (axis.iter_type != tir::IterVarType::kCommReduce || !tir::UsesAnyOf(vars, value)) continue;
    if (!axis.dom || !IsZero(axis.dom->min) || !IsPositiveSum(value, vars)) return false;
  }
  return true;
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

// Returns whether the loop only repeats what the block does.
bool IsRepetition(const tir::For& loop, const tir::ReductionNest& nest) {
  const auto* extent = As<tir::IntImm>(loop.extent);
  return !(extent && extent->value == 1) && std::ranges::none_of(nest.realize->iter_values, [&](const PrimExpr* value) {
    return tir::UsesVar(value, loop.loop_var);
  });
}

bool CanInitializeBefore(const tir::ReductionNest& nest) {
  if (!IsStraight(nest) || !BeginsAtZero(nest)) return false;
  const bool all_reduce =
      std::ranges::all_of(nest.loops, [&](const tir::For* loop) { return nest.IsReduction(*loop); });
  return all_reduce ||
         (std::ranges::none_of(nest.loops, [&](const tir::For* loop) { return IsRepetition(*loop, nest); }) &&
          AccessesOnePlace(*nest.realize->block));
}

}  // namespace

void ReductionInit::ForFirstIterations(const tir::ReductionNest& nest, size_t depth, FunctionRef<void()> body) {
  if (depth == nest.loops.size()) return body();
  const tir::For& loop = *nest.loops[depth];
  const auto inner = [&] { ForFirstIterations(nest, depth + 1, body); };
  if (!nest.IsReduction(loop)) return loops_.EmitSerial(loop, inner);
  BindValue(loop.loop_var, loop.min, exprs_);
  inner();
}

llvm::Value* ReductionInit::HasNoIteration(const tir::ReductionNest& nest) {
  llvm::Value* any = nullptr;
  for (const tir::For* loop : nest.loops) {
    const auto* constant = As<tir::IntImm>(loop->extent);
    if (!nest.IsReduction(*loop) || (constant && constant->value > 0)) continue;
    llvm::Value* is_empty = frame_.b().CreateICmpSLE(exprs_.EmitInt(loop->extent), frame_.Int64(0));
    any = any ? frame_.b().CreateOr(any, is_empty) : is_empty;
  }
  return any;
}

// What only loops of the reduction decide does not keep the block from being initialized if one of them is empty.
void ReductionInit::EmitBefore(const tir::ReductionNest& nest) {
  const auto at_first = [&] { EmitFirst(nest); };
  llvm::Value* is_empty = HasNoIteration(nest);
  if (!is_empty) return at_first();
  const FunctionRef<void()> otherwise = at_first;
  frame_.If(
      is_empty, [&] { EmitEmpty(nest); }, &otherwise);
}

void ReductionInit::EmitFirst(const tir::ReductionNest& nest) {
  const tir::BlockRealize& realize = *nest.realize;
  const Scope::Mark outer = exprs_.scope().mark();
  ForFirstIterations(nest, 0, [&] {
    frame_.If(exprs_.EmitBool(realize.predicate), [&] {
      const IndexRanges::Assumption assumption(exprs_.ranges(), realize.predicate);
      BindAxes(realize, exprs_);
      frame_.If(IsFirstReduction(*realize.block, exprs_), [&] { stmts_.Emit(realize.block->init); });
    });
  });
  exprs_.scope().Rewind(outer);
}

void ReductionInit::EmitEmpty(const tir::ReductionNest& nest) {
  const tir::Block& block = *nest.realize->block;
  const auto initialize = [&] {
    for (const tir::IterVar* axis : block.iter_vars) {
      const bool reduces = axis->iter_type == tir::IterVarType::kCommReduce;
      BindValue(axis->var, reduces ? axis->dom->min : nest.ValueOf(axis), exprs_);
    }
    stmts_.Emit(block.init);
  };
  const auto at_start = [&] {
    llvm::Value* first = frame_.b().getTrue();
    for (const tir::IterVar* axis : nest.outer_axes) {
      llvm::Value* value = exprs_.EmitInt(nest.ValueOf(axis));
      first = frame_.b().CreateAnd(first, frame_.b().CreateICmpEQ(value, exprs_.EmitInt(axis->dom->min)));
    }
    frame_.If(first, initialize);
  };
  // A condition may hold only where those before it do.
  const std::function<void(size_t)> check = [&](size_t i) {
    if (i == nest.conditions.size()) return at_start();
    frame_.If(exprs_.EmitBool(nest.conditions[i]), [&] { check(i + 1); });
  };
  const Scope::Mark outer = exprs_.scope().mark();
  ForFirstIterations(nest, 0, [&] { check(0); });
  exprs_.scope().Rewind(outer);
}

void ReductionInit::Around(const tir::For& loop, FunctionRef<void()> emit_loop) {
  const std::vector<tir::ReductionNest> nests = NestsOf(loop);
  if (nests.size() != 1 || !CanInitializeBefore(nests[0])) {
    if (MayBeEmpty(loop)) EmitIfEmpty(loop);
    return emit_loop();
  }
  EmitBefore(nests[0]);
  const tir::Block* block = nests[0].realize->block;
  done_.insert(block);
  emit_loop();
  done_.erase(block);
}

bool ReductionInit::MayBeEmpty(const tir::For& loop) const {
  const auto* extent = As<tir::IntImm>(loop.extent);
  return !(extent && extent->value > 0) && !NestsOf(loop).empty();
}

void ReductionInit::EmitIfEmpty(const tir::For& loop) {
  frame_.If(frame_.b().CreateICmpSLE(exprs_.EmitInt(loop.extent), frame_.Int64(0)), [&] {
    for (const tir::ReductionNest& nest : NestsOf(loop)) EmitEmpty(nest);
  });
}

std::vector<tir::ReductionNest> ReductionInit::NestsOf(const tir::For& loop) const {
  std::vector<tir::ReductionNest> nests = tir::FindReductionNests(loop);
  std::erase_if(nests, [&](const tir::ReductionNest& nest) { return IsDone(*nest.realize->block); });
  return nests;
}

}  // namespace iropt::codegen
