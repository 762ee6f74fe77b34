// Keeping only the part of a buffer that the next iterations of a loop read again.
//
//   for i in range(8):                             for i in range(8):
//       for j in range(6):                             for j in range(6):
//           with T.block("A"):                             with T.block("A"):
//               v = T.axis.spatial(34, i * 4 + j)   -->        v = T.axis.opaque(34, i * 4 + j)
//               A[v] = ...                                     T.where(i < 1 or 2 <= j)
//       for j in range(4): ... A[i * 4 + j + 2]                A[v % 6] = ...
//
// Source: TVM's src/tir/schedule/primitive/rolling_buffer.cc.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/analysis/tir/block_access.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;

// Plan to roll a buffer: for each dimension the loop that moves through it, and by how many elements the parts of
// neighboring iterations overlap.
struct RollingPlan {
  const tir::Buffer* old_buffer = nullptr;
  const tir::Buffer* new_buffer = nullptr;
  size_t axis = 0;
  const PrimExpr* extent = nullptr;
  std::vector<const tir::For*> loops;  // null: the dimension is not rolled over
  std::vector<int64_t> overlaps;
  std::vector<size_t> block_axes;  // of the block that writes it, by dimensions
};

// A begin of the form var * stride // divisor.
struct Begin {
  const tir::Var* var = nullptr;  // null for a constant
  int64_t stride = 0;
};

std::optional<Begin> MatchBegin(const PrimExpr* expr) {
  if (arith::AsInt(expr)) return Begin{};
  int64_t divisor = 1;
  const auto* div = As<tir::FloorDiv>(expr);
  if (div) {
    const int64_t* constant = arith::AsInt(div->b);
    if (!constant || *constant <= 0 || !Is<tir::Mul>(div->a)) return std::nullopt;
    divisor = *constant;
    expr = div->a;
  }
  if (const auto* var = As<tir::Var>(expr)) return Begin{var, 1};
  const auto* mul = As<tir::Mul>(expr);
  const auto* var = mul ? As<tir::Var>(mul->a) : nullptr;
  const int64_t* stride = mul ? arith::AsInt(mul->b) : nullptr;
  if (!var || !stride) return std::nullopt;
  return Begin{var, (*stride + divisor - 1) / divisor};
}

class RollingRewriter : public tir::StmtExprMutator {
 public:
  RollingRewriter(const RollingPlan& plan, const tir::Block* scope, Workspace& workspace)
      : StmtExprMutator(workspace), plan_(plan), scope_(scope), make_(workspace) {}

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const tir::Block* visited = To<tir::Block>(StmtExprMutator::VisitBlock(block));
    return block == scope_ ? CompleteScope(*visited) : CompleteBlock(*visited);
  }
  // Elements that the iteration before has computed are not computed again.
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBlockRealize(realize);
    if (!has_stored_) return visited;
    has_stored_ = false;
    const PrimExpr* condition = To<tir::BlockRealize>(visited)->predicate;
    for (size_t i = 0; i < plan_.loops.size(); ++i) {
      if (!plan_.loops[i]) continue;
      const tir::Var* var = plan_.loops[i]->loop_var;
      Analyzer analyzer(make_, Analyzer::SymVars::kAny);
      const PrimExpr* zero = make_.Const(0, var->dtype);
      const arith::VarDomains domains{{var, arith::IntervalSet::Point(zero)}};
      const PrimExpr* place = arith::EvalSet(realize->iter_values[plan_.block_axes[i]], domains, analyzer).min();
      const PrimExpr* is_first =
          make_.Binary(NodeKind::kLT, var, make_.Add(plan_.loops[i]->min, make_.Const(1, var->dtype)));
      const PrimExpr* is_new = make_.Binary(NodeKind::kGE, place, make_.Const(plan_.overlaps[i], place->dtype));
      condition =
          analyzer.Simplify(make_.Binary(NodeKind::kAnd, condition, make_.Binary(NodeKind::kOr, is_first, is_new)));
    }
    auto* copy = workspace().New<tir::BlockRealize>(*To<tir::BlockRealize>(visited));
    copy->predicate = condition;
    return copy;
  }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    if (store->buffer != plan_.old_buffer) return visited;
    has_stored_ = true;
    auto* copy = workspace().New<tir::BufferStore>(*To<tir::BufferStore>(visited));
    copy->buffer = plan_.new_buffer;
    copy->indices = Roll(copy->indices);
    return copy;
  }
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
    if (load->buffer != plan_.old_buffer) return visited;
    auto* copy = workspace().New<tir::BufferLoad>(*To<tir::BufferLoad>(visited));
    copy->buffer = plan_.new_buffer;
    if (!IsMention(*load)) copy->indices = Roll(copy->indices);
    return copy;
  }

 private:
  List<const PrimExpr*> Roll(List<const PrimExpr*> indices) {
    std::vector<const PrimExpr*> rolled(indices.begin(), indices.end());
    rolled[plan_.axis] = make_.FloorMod(rolled[plan_.axis], plan_.extent);
    return workspace().Copy(rolled);
  }
  const tir::Block* CompleteScope(const tir::Block& block) {
    return CopyBlock(block, workspace(), [&](tir::Block& copy) {
      std::vector<const tir::Buffer*> buffers(copy.alloc_buffers.begin(), copy.alloc_buffers.end());
      std::ranges::replace(buffers, plan_.old_buffer, plan_.new_buffer);
      copy.alloc_buffers = workspace().Copy(buffers);
    });
  }
  // An iteration depends on all before it in the rolled dimension, so that the axis of this number must not be moved.
  const tir::Block* CompleteBlock(const tir::Block& block) {
    const BlockAccesses accesses =
        GetBlockReadWriteRegion(block, {{plan_.new_buffer->data, plan_.new_buffer}}, workspace());
    return CopyBlock(block, workspace(), [&](tir::Block& copy) {
      if (plan_.axis < copy.iter_vars.size()) {
        std::vector<const tir::IterVar*> axes(copy.iter_vars.begin(), copy.iter_vars.end());
        auto* axis = workspace().New<tir::IterVar>(*axes[plan_.axis]);
        axis->iter_type = tir::IterVarType::kOpaque;
        axes[plan_.axis] = axis;
        copy.iter_vars = workspace().Copy(axes);
      }
      if (!accesses.reads.empty())
        copy.reads = ReplaceRegion(copy.reads, plan_.old_buffer, accesses.reads[0], workspace());
      if (!accesses.writes.empty())
        copy.writes = ReplaceRegion(copy.writes, plan_.old_buffer, accesses.writes[0], workspace());
    });
  }

  const RollingPlan& plan_;
  const tir::Block* scope_;
  arith::PrimBuilder make_;
  bool has_stored_ = false;
};

// The plan for the region that an iteration of the loop around all accesses writes; nothing if it does not roll.
std::optional<RollingPlan> PlanRolling(State& state, const Ref* block, const tir::Buffer* buffer,
                                       const std::vector<const tir::Range*>& region) {
  RollingPlan plan;
  plan.old_buffer = buffer;
  std::vector<const tir::Var*> vars;
  for (const tir::Range* range : region) {
    const std::optional<Begin> begin = MatchBegin(range->min);
    const int64_t* extent = arith::AsInt(range->extent);
    if (!begin || (begin->var && !extent)) return std::nullopt;
    const int64_t overlap = begin->var ? *extent - begin->stride : 0;
    if (begin->var && begin->stride <= 0) return std::nullopt;
    vars.push_back(overlap > 0 ? begin->var : nullptr);
    plan.overlaps.push_back(overlap);
  }
  const std::vector<Ref*> around = state.LoopsOf(block);
  for (const tir::Var* var : vars) {
    const auto found = std::ranges::find_if(around, [&](const Ref* loop) { return loop->loop().loop_var == var; });
    plan.loops.push_back(found == around.end() ? nullptr : &(*found)->loop());
  }
  for (const Ref* loop : around) {
    const auto found = std::ranges::find(plan.loops, &loop->loop());
    if (found == plan.loops.end()) continue;
    plan.axis = static_cast<size_t>(found - plan.loops.begin());
    plan.extent = region[plan.axis]->extent;
    std::vector<const PrimExpr*> shape(buffer->shape.begin(), buffer->shape.end());
    shape[plan.axis] = plan.extent;
    plan.new_buffer = CopyBuffer(*buffer, {.shape = &shape}, state.workspace());
    return plan;
  }
  return std::nullopt;
}

// The condition of the block is on the axes that the dimensions are written by.
Status FindBlockAxes(State& state, const Ref& block, const tir::BufferRegion& written, RollingPlan& plan) {
  const List<const tir::IterVar*> axes = block.block().iter_vars;
  for (size_t i = 0; i < plan.loops.size(); ++i) {
    const auto found = std::ranges::find_if(axes, [&](const tir::IterVar* axis) {
      return axis->var == written.region[i]->min && arith::IsInt(written.region[i]->extent, 1);
    });
    if (plan.loops[i] && found == axes.end())
      return state.Refuse(fmt::format("the block {{0}} does not write dimension {} by one of its axes", i),
                          {block.stmt});
    plan.block_axes.push_back(static_cast<size_t>(found - axes.begin()));
  }
  return {};
}

// An iteration needs what those before it have written.
Status CheckSerial(State& state, const RollingPlan& plan) {
  for (const tir::For* loop : plan.loops) {
    if (loop && loop->for_kind != tir::ForKind::kSerial && loop->for_kind != tir::ForKind::kUnrolled)
      return state.Refuse("the iterations of the loop {0} may run at the same time: expected one after another",
                          {loop});
  }
  return {};
}

// Other elements are not kept.
Status CheckReadsWindow(State& state, const Ref* user, const Ref* loop, const tir::Buffer* buffer,
                        const std::vector<const tir::Range*>& window) {
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  BindLoopsAround(loop, analyzer);
  arith::IterRanges loops;
  for (const Ref* up = user->parent; up != loop; up = up->parent)
    loops.insert_or_assign(up->loop().loop_var, tir::Range(up->loop().min, up->loop().extent));
  const arith::PrimBuilder make = state.make();
  for (const tir::BufferRegion* read : user->block().reads) {
    if (read->buffer != buffer) continue;
    const tir::BlockRealize& realize = *state.RealizeOf(user);
    const auto* bound = tir::Substitute(read, BindingsOf(realize, state.workspace()), state.workspace());
    const Box box = UpperBound(*bound, realize.predicate, loops, analyzer);
    for (size_t i = 0; i < box.size(); ++i) {
      const PrimExpr* end = make.Add(window[i]->min, window[i]->extent);
      if (box[i].is_bounded() && analyzer.CanProve(make.Binary(NodeKind::kGE, box[i].min(), window[i]->min)) &&
          analyzer.CanProve(make.Binary(NodeKind::kLT, box[i].max(), end)))
        continue;
      return state.Refuse("the block {0} may read elements that the iteration of the loop {1} does not write",
                          {user->stmt, loop->stmt});
    }
  }
  return {};
}

}  // namespace

Status ApplyRollingBuffer(PrimitiveCall& call, const args::RollingBuffer<Resolved>& args) {
  State& state = call.state();
  Ref* block = args.block;
  IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* region,
                         RequireAccess(state, block, args.write_buffer_index, /*is_write=*/true));
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state, block, /*stage_pipeline=*/false));
  IROPT_RETURN_IF_ERROR(CheckOnlyBlocks(state, scope));
  IROPT_RETURN_IF_ERROR(CheckNotOutputBlock(state, block, scope));
  const BlockScope& info = state.ScopeInfo(scope);
  const auto is_other = [](const Dependence& dependence) { return dependence.kind != DependenceKind::kReadAfterWrite; };
  if (std::ranges::any_of(info.DependencesTo(block), is_other) ||
      std::ranges::any_of(info.DependencesFrom(block), is_other))
    return state.Refuse("the block {0} has dependences other than reads of what was written before", {block->stmt});
  std::vector<Ref*> users = info.ConsumersOf(block);
  users.push_back(block);
  const Ref* lca = LowestCommonAncestor(users);
  if (!lca->is_loop())
    return state.Refuse("no loop is around all accesses of the buffer of the block {0}: expected the block to be tiled",
                        {block->stmt});
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  arith::IterRanges loops;
  for (const Ref* up = block->parent; up != lca; up = up->parent)
    loops.insert_or_assign(up->loop().loop_var, tir::Range(up->loop().min, up->loop().extent));
  const tir::BufferRegion* bound =
      tir::Substitute(region, BindingsOf(*state.RealizeOf(block), state.workspace()), state.workspace());
  const Box box = EvalBox(bound->region, loops, analyzer);
  std::vector<const tir::Range*> ranges;
  for (size_t i = 0; i < box.size(); ++i) {
    const PrimExpr* dim = region->buffer->shape[i];
    ranges.push_back(RangeOf(box[i], tir::Range(state.make().Const(0, dim->dtype), dim), analyzer, state.workspace()));
  }
  auto plan = PlanRolling(state, block, region->buffer, ranges);
  if (!plan)
    return state.Refuse(
        "no dimension of the region of the block {0} rolls: expected one such as outer * stride + inner",
        {block->stmt});
  IROPT_RETURN_IF_ERROR(FindBlockAxes(state, *block, *region, *plan));
  IROPT_RETURN_IF_ERROR(CheckSerial(state, *plan));
  users.pop_back();
  for (const Ref* user : users) IROPT_RETURN_IF_ERROR(CheckReadsWindow(state, user, lca, region->buffer, ranges));
  const tir::Block* old_scope = &scope->block();
  const auto* new_scope = To<tir::Block>(RollingRewriter(*plan, old_scope, state.workspace()).VisitStmt(old_scope));
  state.Replace(scope, new_scope, PairBlocks(old_scope, new_scope));
  state.Recheck(scope);
  return {};
}

}  // namespace iropt::schedule
