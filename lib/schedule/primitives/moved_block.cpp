#include "moved_block.h"

#include <algorithm>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/tir/reduction_nest.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "schedule/checks.h"
#include "schedule/region_tools.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;

bool IsReduced(const tir::IterVar& axis) { return axis.iter_type == tir::IterVarType::kCommReduce; }
bool RunsOnce(const tir::For& loop) { return arith::IsInt(loop.extent, 1); }

// Blocks of threads run in any order.
bool IsBlockIdx(const tir::For& loop) {
  return loop.thread_binding && ThreadTag::Of(loop.thread_binding->thread_tag).rank == ThreadRank::kBlock;
}

// Finds the loops from a statement to a block in it, the outermost first.
class PathFinder : public StmtWalker {
 public:
  explicit PathFinder(const tir::Block* block) : block_(block) {}
  std::vector<const tir::For*> loops;
  const tir::BlockRealize* found = nullptr;

 protected:
  void VisitFor(const tir::For* loop) override {
    if (found) return;
    loops.push_back(loop);
    StmtWalker::VisitFor(loop);
    if (!found) loops.pop_back();
  }
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    if (realize->block == block_) found = realize;
  }

 private:
  const tir::Block* block_;
};

// Looks for what must not be computed of values that are not finished: an access to another place, a division by zero,
// and effects outside of the buffers.
class HarmFinder : public tir::StmtExprVisitor {
 public:
  bool found = false;

  void VisitStmt(const tir::Stmt* stmt) override {
    const bool is_known = Is<tir::BufferStore>(stmt) || Is<tir::SeqStmt>(stmt) || Is<tir::IfThenElse>(stmt);
    found = found || !is_known;
    if (!found) StmtExprVisitor::VisitStmt(stmt);
  }
  void VisitExpr(const PrimExpr* expr) override {
    const auto* binary = As<tir::BinaryExpr>(expr);
    const bool divides = expr->kind == NodeKind::kDiv || expr->kind == NodeKind::kMod ||
                         expr->kind == NodeKind::kFloorDiv || expr->kind == NodeKind::kFloorMod;
    found = found || (divides && !expr->dtype.is_floating() && !arith::AsInt(binary->b));
    found = found || (Is<tir::Call>(expr) && arith::SideEffect(expr) > CallEffect::kReadState);
    if (!found) StmtExprVisitor::VisitExpr(expr);
  }

 protected:
  void VisitBufferLoad(const tir::BufferLoad* load) override { Look(load->indices); }
  void VisitBufferStore(const tir::BufferStore* store) override {
    Look(store->indices);
    StmtExprVisitor::VisitBufferStore(store);
  }

 private:
  void Look(List<const PrimExpr*> indices) {
    found = found || std::ranges::any_of(indices, [](const PrimExpr* index) { return !arith::IsPure(index); });
  }
};

bool IsHarmless(const tir::Block& block) {
  HarmFinder harm;
  if (block.init) harm.VisitStmt(block.init);
  harm.VisitStmt(block.body);
  return !harm.found;
}

}  // namespace

bool IsOfReduction(const tir::BlockRealize& realize, const tir::For& loop) {
  const List<const tir::IterVar*> axes = realize.block->iter_vars;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (IsReduced(*axes[i]) && tir::UsesVar(realize.iter_values[i], loop.loop_var)) return true;
  }
  return false;
}

bool BeginsWithInit(State& state, const tir::BlockRealize& realize, const std::vector<const tir::For*>& loops) {
  const List<const tir::IterVar*> axes = realize.block->iter_vars;
  const auto is_of_reduction = [&](const tir::For* loop) { return !RunsOnce(*loop) && IsOfReduction(realize, *loop); };
  if (std::ranges::any_of(loops, [&](const tir::For* loop) { return is_of_reduction(loop) && IsBlockIdx(*loop); }))
    return false;
  const auto first = std::ranges::find_if(loops, is_of_reduction);
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  BindShapes(*state.func(), analyzer);
  arith::IterRanges inner;
  tir::VarValues at_first;
  for (auto loop = loops.begin(); loop != loops.end(); ++loop) {
    const tir::Range range((*loop)->min, (*loop)->extent);
    if (loop >= first || RunsOnce(**loop)) {
      inner.insert_or_assign((*loop)->loop_var, range);
      at_first[(*loop)->loop_var] = range.min;
    } else {
      analyzer.Bind((*loop)->loop_var, range.min, range.extent);
    }
  }
  std::vector<const PrimExpr*> values;
  std::vector<const tir::IterVar*> reduced;
  for (const bool is_reduced : {true, false}) {
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto uses = [&](const tir::For* loop) { return tir::UsesVar(realize.iter_values[i], loop->loop_var); };
      if (IsReduced(*axes[i]) != is_reduced || (!is_reduced && std::none_of(first, loops.end(), uses))) continue;
      values.push_back(realize.iter_values[i]);
      if (is_reduced) reduced.push_back(axes[i]);
    }
  }
  if (!arith::AreIndependentRanges(inner)) return false;
  const auto begins = [&](const PrimExpr* condition) {
    const auto map =
        arith::DetectIterMap(values, inner, condition, {.level = arith::IterMapLevel::kBijective}, analyzer);
    for (size_t i = 0; map && i < reduced.size(); ++i) {
      // A rotated axis, (k + 3) % 6, begins with another value than its least one.
      const PrimExpr* begin = tir::Substitute(values[i], at_first, state.workspace());
      if (!arith::IsInt(map->indices[i].scale, 1) || !analyzer.CanProveEqual(begin, reduced[i]->dom->min)) return false;
    }
    return map.has_value();
  };
  return begins(nullptr) || (!IsTrue(realize.predicate) && begins(analyzer.Simplify(realize.predicate)));
}

namespace {

// Returns whether what the block computes under the loops depends on the variable.
bool DependsOn(const tir::BlockRealize& realize, std::span<const tir::For* const> loops, const tir::Var* var) {
  const auto uses = [&](const PrimExpr* value) { return tir::UsesVar(value, var); };
  return uses(realize.predicate) || std::ranges::any_of(realize.iter_values, uses) ||
         std::ranges::any_of(loops, [&](const tir::For* loop) { return uses(loop->min) || uses(loop->extent); });
}

}  // namespace

Status CheckBeginsWithInit(State& state, const Ref* block, const Ref* loop, const tir::Stmt* new_loop) {
  const tir::Block& moved = block->block();
  const auto is_reduced = [](const tir::IterVar* axis) { return IsReduced(*axis); };
  if (!moved.init || std::ranges::none_of(moved.iter_vars, is_reduced)) return {};
  PathFinder path(&moved);
  path.VisitStmt(new_loop);
  std::vector<const tir::For*> loops;
  for (const Ref* ref = loop->parent; ref->is_loop(); ref = ref->parent) loops.push_back(&ref->loop());
  std::ranges::reverse(loops);
  loops.insert(loops.end(), path.loops.begin(), path.loops.end());
  if (BeginsWithInit(state, *path.found, loops)) return {};
  return state.Refuse("the reduction of the block {0} would not begin with its first values under the loop {1}",
                      {&moved, loop->stmt});
}

Status CheckReducesOnce(State& state, const Ref* block, const Ref* loop) {
  const tir::BlockRealize& realize = *state.RealizeOf(block);
  const arith::IterRanges inner = LoopDomain(block->parent, loop->parent);
  std::vector<const PrimExpr*> values;
  for (const PrimExpr* value : realize.iter_values) {
    if (tir::UsesAnyOf(inner, value)) values.push_back(value);
  }
  if (!DetermineInnerLoops(state, values, realize.iter_values, inner, loop->parent, realize.predicate))
    return state.Refuse("loops under {0} repeat the reduction of the block {1}, which then begins once only",
                        {loop->stmt, realize.block});
  const BlocksInLoops blocks = FindBlocksInLoops(loop->stmt, {}, state.workspace());
  const auto own = std::ranges::find(blocks.found, &realize, &BlockInLoops::realize);
  for (const Ref* ref = block->parent; ref != loop->parent; ref = ref->parent) {
    const auto uses = [&](const PrimExpr* value) { return tir::UsesVar(value, ref->loop().loop_var); };
    if (std::ranges::any_of(realize.iter_values, uses) || RunsOnceIn(state, ref, *own, blocks)) continue;
    return state.Refuse("the loop {0} repeats the reduction of the block {1}, which then begins once only",
                        {ref->stmt, realize.block});
  }
  return {};
}

Status CheckBeginsWithoutElements(State& state, const Ref* block, const Ref* loop, const tir::Block* new_scope) {
  const tir::Block& moved = block->block();
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  BindShapes(*state.func(), analyzer);
  const auto may_be_empty = [&](const PrimExpr* extent) { return !analyzer.CanProveGreaterEqual(extent, 1); };
  const auto may_have_none = [&](const tir::IterVar* axis) {
    return IsReduced(*axis) && may_be_empty(axis->dom->extent);
  };
  if (!moved.init || std::ranges::none_of(moved.iter_vars, may_have_none)) return {};
  PathFinder path(&moved);
  path.VisitStmt(new_scope->body);
  for (const tir::For* around : path.loops) {
    if (!IsOfReduction(*path.found, *around) || !may_be_empty(around->extent)) continue;
    const std::vector<tir::ReductionNest> nests = tir::FindReductionNests(*around);
    if (std::ranges::find(nests, path.found, &tir::ReductionNest::realize) != nests.end()) continue;
    return state.Refuse(
        "the reduction of the block {0} may have no elements, and would not be initialized under the "
        "loop {1}",
        {&moved, loop->stmt});
  }
  return {};
}

Status CheckMayRunEarly(State& state, const Ref* block, const Ref* producer, const Ref* loop,
                        const std::vector<Ref*>& consumers, const tir::Stmt* new_loop) {
  const tir::ForKind kind = loop->loop().for_kind;
  const auto is_under = [&](const Ref* ref) {
    while (ref && ref != loop) ref = ref->parent;
    return ref != nullptr;
  };
  const bool is_serial = kind == tir::ForKind::kSerial || kind == tir::ForKind::kUnrolled;
  PathFinder path(&block->block());
  path.VisitStmt(new_loop);
  // Each iteration of the loop computes all that the others do.
  const bool is_repeated = !DependsOn(*path.found, path.loops, loop->loop().loop_var);
  if (is_repeated && is_serial && IsHarmless(block->block()) && std::ranges::none_of(consumers, is_under)) return {};
  return state.Refuse("the loop {0} is of a reduction of the producer {1}", {loop->stmt, producer->stmt});
}

}  // namespace iropt::schedule
