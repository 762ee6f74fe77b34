// Moving a block under a loop of its consumers, or of its producers.
//
//   for i, j: B[i, j] = ...                      for i:
//   for i, j: C[i, j] = f(B[i, j])     -->           for j: B[i, j] = ...
//                                                    for j: C[i, j] = f(B[i, j])
//
// The axes of the block run through what is needed under the loop: one iteration of the block provides a region of a
// buffer, the blocks under the loop require another one, and the axes follow from both, either by inverting the indices
// as an iterator map, or dimension by dimension.
//
// Source: TVM's src/tir/schedule/primitive/compute_at.cc.
#include <fmt/format.h>

#include <algorithm>

#include "axis_condition.h"
#include "axis_domains.h"
#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/side_effect.h"
#include "moved_block.h"
#include "removal_plan.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"
#include "schedule/stmt_tools.h"
#include "schedule/stored_region.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;
using arith::IntervalSet;

// The scope without the block at its old place and with the loop replaced.
class MoveRewriter : public ScopeRewriter {
 public:
  // The paths lead from the scope to the block and to the loop.
  MoveRewriter(const tir::Block* scope, const PathSet& paths, const RemovalPlan& removal, const tir::Stmt* old_loop,
               const tir::Stmt* new_loop, Workspace& workspace)
      : ScopeRewriter(scope, workspace), paths_(paths), removal_(removal), old_loop_(old_loop), new_loop_(new_loop) {}

 protected:
  const tir::Stmt* VisitScope(const tir::Block* block) override {
    return ScopeRewriter::VisitScope(block == removal_.source ? To<tir::Block>(removal_.target) : block);
  }
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (!paths_.contains(loop)) return loop;
    if (loop == removal_.source) loop = To<tir::For>(removal_.target);
    return loop == old_loop_ ? new_loop_ : StmtExprMutator::VisitFor(loop);
  }

 private:
  const PathSet& paths_;
  const RemovalPlan& removal_;
  const tir::Stmt* old_loop_;
  const tir::Stmt* new_loop_;
};

class Mover {
 public:
  Mover(State& state, Ref* block, Ref* loop, bool is_compute_at)
      : state_(state),
        workspace_(state.workspace()),
        block_(block),
        loop_(loop),
        is_compute_at_(is_compute_at),
        analyzer_(state.make(), Analyzer::SymVars::kAny) {}

  Status Move(bool preserve_unit_loops, int64_t index) {
    IROPT_ASSIGN_OR_RETURN(scope_, RequireScope(state_, block_, /*stage_pipeline=*/true));
    BindShapes(*state_.func(), analyzer_);
    const BlockScope& info = state_.ScopeInfo(scope_);
    producers_ = info.ProducersOf(block_);
    consumers_ = info.ConsumersOf(block_);
    IROPT_RETURN_IF_ERROR(CheckCompleteOrReductionBlock(state_, block_, scope_));
    IROPT_RETURN_IF_ERROR(CheckSameScope());
    IROPT_RETURN_IF_ERROR(CheckUsesOnlyAxes(state_, block_));
    if (is_compute_at_) IROPT_RETURN_IF_ERROR(CheckNotOutputBlock(state_, block_, scope_));
    IROPT_ASSIGN_OR_RETURN(const RemovalPlan removal, PlanRemoval(state_, block_));
    IROPT_ASSIGN_OR_RETURN(const size_t position, FindPosition(index));
    IROPT_ASSIGN_OR_RETURN(axis_conditions_, ConditionOfAxes(state_, block_, loop_));
    IROPT_ASSIGN_OR_RETURN(const std::vector<AxisDomain> domains, SolveDomains());
    IROPT_RETURN_IF_ERROR(CheckLoads(domains));
    const tir::Stmt* new_loop = MakeNewLoop(position, domains, preserve_unit_loops);
    if (!is_compute_at_) {
      for (const Ref* producer : producers_) IROPT_RETURN_IF_ERROR(CheckReductionOf(producer, new_loop));
      IROPT_RETURN_IF_ERROR(CheckProduced(domains));
      IROPT_RETURN_IF_ERROR(CheckLoopsRun());
    }
    IROPT_RETURN_IF_ERROR(CheckBeginsWithInit(state_, block_, loop_, new_loop));
    IROPT_RETURN_IF_ERROR(CheckConcurrentLoops(new_loop));
    const tir::Block* scope_block = &scope_->block();
    PathSet paths;
    paths.Add(block_, scope_);
    paths.Add(loop_, scope_);
    MoveRewriter rewriter(scope_block, paths, removal, loop_->stmt, new_loop, workspace_);
    const auto* new_scope = To<tir::Block>(rewriter.VisitStmt(scope_block));
    IROPT_RETURN_IF_ERROR(CheckBeginsWithoutElements(state_, block_, loop_, new_scope));
    state_.Replace(scope_, new_scope, {{scope_block, new_scope}});
    state_.RecheckAffine(block_);
    return {};
  }

 private:
  void Bind(const tir::Var* var, const tir::Range& range) {
    analyzer_.Bind(var, range.min, range.extent);
    loop_domains_.insert_or_assign(var, IntervalSet::FromRange(range, analyzer_.make()));
  }

  // The loop is in the scope of the block, and not around it.
  Status CheckSameScope() {
    std::vector<const Ref*> loops;
    const Ref* ref = loop_;
    for (; ref && ref->is_loop(); ref = ref->parent) loops.push_back(ref);
    if (ref != scope_)
      return state_.Refuse("the block {0} cannot move to the loop {1}: expected a loop in the same block scope",
                           {block_->stmt, loop_->stmt});
    for (const Ref* up = block_->parent; up != scope_; up = up->parent) {
      if (up == loop_)
        return state_.Refuse("the loop {1} is an ancestor of block {0}: expected a loop that is not around it",
                             {block_->stmt, loop_->stmt});
    }
    for (size_t i = loops.size(); i > 0; --i) {
      const tir::For& loop = loops[i - 1]->loop();
      Bind(loop.loop_var, tir::Range(loop.min, loop.extent));
    }
    return {};
  }

  // Among the statements under the loop.
  Result<size_t> FindPosition(int64_t index) {
    const std::vector<const tir::Stmt*> statements = StatementsOf(loop_->loop().body);
    IROPT_ASSIGN_OR_RETURN(const ProducerConsumerSplit split,
                           SplitByDependences(state_, statements, producers_, consumers_));
    const std::vector<Ref*>& required = is_compute_at_ ? consumers_ : producers_;
    const int visited = is_compute_at_ ? split.consumers_visited : split.producers_visited;
    const int missing = static_cast<int>(required.size()) - visited;
    if (missing > 0) {
      const std::string_view relation = is_compute_at_ ? "consumer(s)" : "producer(s)";
      std::string message = fmt::format(
          "the primitive requires all the {0} of the given block to be present under the target loop. "
          "However, there are {1} {0} not satisfying the constraint. List of the {0}:",
          relation, missing);
      std::vector<const Node*> parts;
      for (size_t i = 0; i < required.size(); ++i) {
        message += fmt::format(" {{{}}}", i);
        parts.push_back(required[i]->stmt);
      }
      return state_.Refuse(std::move(message), std::move(parts));
    }
    if (!is_compute_at_) IROPT_RETURN_IF_ERROR(CheckConsumersFollow());
    if (is_compute_at_ && consumers_.empty() && !producers_.empty())
      return state_.Refuse("the block {0} has no consumers under the loop {1}, but producers",
                           {block_->stmt, loop_->stmt});
    const int first = split.last_producer + 1;
    const int last = split.first_consumer;
    if (index == -1) return static_cast<size_t>(last);
    if (index == -2) return static_cast<size_t>(first);
    if (index >= first && index <= last) return static_cast<size_t>(index);
    return state_.Refuse(
        fmt::format("invalid `index` {2}: expected -1, -2, or a number from {0} to {1}", first, last, index));
  }

  // Consumers that are not under the loop come after it.
  Status CheckConsumersFollow() {
    uint32_t first = UINT32_MAX;
    for (const Ref* child : state_.ChildrenOf(loop_)) first = std::min(first, child->place);
    const auto is_under = [&](const Ref* ref) {
      while (ref && ref != loop_) ref = ref->parent;
      return ref != nullptr;
    };
    for (const Ref* consumer : consumers_) {
      if (consumer->place >= first || is_under(consumer)) continue;
      return state_.Refuse("the block {1} reads what the block {0} writes, and comes before the loop {2}",
                           {block_->stmt, consumer->stmt, loop_->stmt});
    }
    return {};
  }

  // The blocks that the domains follow from state what they access; and a consumer reads what its producers write for
  // all values of its axes, not only under a condition.
  Status CheckAccesses() {
    const tir::Block& block = block_->block();
    const List<const tir::BufferRegion*> own = is_compute_at_ ? block.writes : block.reads;
    for (const Ref* other : is_compute_at_ ? consumers_ : producers_) {
      const auto states = [&](const tir::BufferRegion* region) {
        return UsesBuffer(is_compute_at_ ? other->block().reads : other->block().writes, region->buffer);
      };
      if (!std::ranges::any_of(own, states))
        return state_.Refuse("the block {0} does not state what it accesses", {other->stmt});
    }
    if (block.reads.empty() && block.writes.empty())
      return state_.Refuse("the block {0} does not state what it accesses", {&block});
    if (is_compute_at_) return {};
    arith::IterRanges axes;
    for (const tir::IterVar* axis : block.iter_vars) axes.insert_or_assign(axis->var, *axis->dom);
    for (const tir::BufferRegion* region : own) {
      const auto writes = [&](const Ref* producer) { return UsesBuffer(producer->block().writes, region->buffer); };
      if (std::ranges::none_of(producers_, writes)) continue;
      std::vector<const PrimExpr*> begins;
      for (const tir::Range* range : region->region) begins.push_back(range->min);
      IROPT_RETURN_IF_ERROR(
          CheckInside(state_, *region->buffer, begins, DomainsOf(axes, analyzer_.make()), block_->stmt));
    }
    return {};
  }

  // A reduction of the producer is not finished in the loops that are of it.
  Status CheckReductionOf(const Ref* producer, const tir::Stmt* new_loop) {
    for (const Ref* loop = loop_; loop->is_loop(); loop = loop->parent) {
      if (IsOfReduction(*state_.RealizeOf(producer), loop->loop()) && !arith::IsInt(loop->loop().extent, 1))
        IROPT_RETURN_IF_ERROR(CheckMayRunEarly(state_, block_, producer, loop, consumers_, new_loop));
    }
    return {};
  }

  Result<std::vector<AxisDomain>> SolveDomains() {
    IROPT_RETURN_IF_ERROR(CheckAccesses());
    const tir::Block& block = block_->block();
    std::vector<AxisRequirement> requirements;
    const List<const tir::BufferRegion*> own = is_compute_at_ ? block.writes : block.reads;
    for (size_t i = 0; i < own.size(); ++i) {
      const tir::Buffer* buffer = own[i]->buffer;
      std::vector<Box> provided;
      bool is_first = true;
      for (size_t k = 0; k < own.size(); ++k) {
        if (own[k]->buffer != buffer) continue;
        is_first = is_first && k >= i;
        provided.push_back(BoxOf(own[k]->region, analyzer_.make()));
      }
      const std::vector<Box> required = is_first ? RequiredOf(buffer) : std::vector<Box>();
      if (required.empty()) continue;
      requirements.push_back({buffer, UnionBox(provided, analyzer_), UnionBox(required, analyzer_)});
    }
    return SolveAxisDomains(state_, block, requirements, analyzer_);
  }

  // An axis may be what a reader loads, as in A[index[vi]], but not where a condition keeps the reader from loading it.
  Status CheckLoads(const std::vector<AxisDomain>& domains) {
    const auto loads = [](const AxisDomain& domain) {
      return domain.dom.is_bounded() && !(arith::IsPure(domain.dom.min()) && arith::IsPure(domain.dom.max()));
    };
    if (std::ranges::none_of(domains, loads)) return {};
    for (const Ref* reader : is_compute_at_ ? consumers_ : producers_) {
      if (!IsTrue(state_.RealizeOf(reader)->predicate))
        return state_.Refuse(
            "which elements the block {0} would compute is loaded under the condition of the block {1}",
            {block_->stmt, reader->stmt});
    }
    return {};
  }

  // Requires that a consumer with these axes reads only elements that the producers have written under the loop. An
  // axis has more values than required if it is not found from what is required, as in B[vi % 4], or if several regions
  // require others.
  Status CheckProduced(const std::vector<AxisDomain>& domains) {
    const tir::Block& block = block_->block();
    arith::IterRanges axes;
    for (size_t i = 0; i < domains.size(); ++i)
      axes.insert_or_assign(block.iter_vars[i]->var,
                            *RangeOf(domains[i].dom, *block.iter_vars[i]->dom, analyzer_, workspace_));
    const auto is_before = [&](const PrimExpr* a, const PrimExpr* b) {
      const PrimExpr* holds = analyzer_.make().Binary(NodeKind::kLE, a, b);
      return analyzer_.CanProve(holds) || CanProveByExtremes(holds, loop_domains_, analyzer_);
    };
    for (const tir::BufferRegion* region : block.reads) {
      const std::vector<Box> boxes = RequiredOf(region->buffer);
      if (boxes.empty()) continue;
      IROPT_RETURN_IF_ERROR(CheckWritesRegion(region->buffer));
      const Box written = UnionBox(boxes, analyzer_);
      const Box read = EvalBox(region->region, axes, analyzer_);
      for (size_t i = 0; i < read.size(); ++i) {
        if (!read[i].is_bounded() || !written[i].is_bounded() || !is_before(written[i].min(), read[i].min()) ||
            !is_before(read[i].max(), written[i].max()))
          return state_.Refuse(
              fmt::format("the block {{0}} would read elements of {} that are not written yet", region->buffer->name),
              {&block});
      }
    }
    return {};
  }

  // Requires that the elements that the producers write under the loop have no gaps, which would be written in other
  // iterations of it.
  Status CheckWritesRegion(const tir::Buffer* buffer) {
    std::vector<Box> stored;
    // The block reads nothing in iterations in which it does not run at its new place.
    const auto is_known = [&](const PrimExpr* condition) {
      const Analyzer::Constraint constraint(analyzer_, new_condition_);
      return analyzer_.CanProve(condition);
    };
    for (const Ref* producer : producers_) {
      if (!UsesBuffer(producer->block().writes, buffer)) continue;
      auto boxes = StoredBoxes(state_, producer, loop_, buffer, is_known);
      if (!boxes) return {};
      stored.insert(stored.end(), boxes->begin(), boxes->end());
    }
    // The elements that are assumed to be written, as far as the block reads them at all.
    arith::IterRanges axes;
    for (const tir::IterVar* axis : block_->block().iter_vars) axes.insert_or_assign(axis->var, *axis->dom);
    const arith::PrimBuilder& make = analyzer_.make();
    const PrimExpr* condition = make.Bool(true);
    for (const PrimExpr* holds : axis_conditions_) condition = make.Binary(NodeKind::kAnd, condition, holds);
    std::vector<Box> reads;
    for (const tir::BufferRegion* region : block_->block().reads) {
      if (region->buffer == buffer)
        reads.push_back(UpperBound(*region, analyzer_.Simplify(condition), axes, analyzer_));
    }
    const Box read = UnionBox(reads, analyzer_);
    const Box written = UnionBox(RequiredOf(buffer), analyzer_);
    std::vector<const tir::Range*> ranges;
    for (size_t i = 0; i < read.size(); ++i) {
      const IntervalSet both = arith::Intersect(written[i], read[i], analyzer_);
      const tir::Range whole(make.Const(0, buffer->shape[i]->dtype), buffer->shape[i]);
      ranges.push_back(RangeOf(both.is_nothing() ? written[i] : both, whole, analyzer_, workspace_));
    }
    if (ContainRegion(state_, stored, workspace_.Copy(ranges), loop_)) return {};
    return state_.Refuse(fmt::format("the blocks under the loop {{0}} may not write all elements of {} there that the "
                                     "block {{1}} would read",
                                     buffer->name),
                         {loop_->stmt, block_->stmt});
  }

  // Returns the regions of the buffer that the blocks under the loop access.
  std::vector<Box> RequiredOf(const tir::Buffer* buffer) {
    std::vector<Box> boxes;
    for (const Ref* other : is_compute_at_ ? consumers_ : producers_) {
      const tir::Block& block = other->block();
      const tir::VarValues bindings = BindingsOf(*state_.RealizeOf(other), workspace_);
      for (const tir::BufferRegion* access : is_compute_at_ ? block.reads : block.writes) {
        if (access->buffer != buffer) continue;
        const auto* region = tir::Substitute(access, bindings, workspace_);
        const std::string_view scope = is_compute_at_ ? buffer->scope() : "global";
        boxes.push_back(EvalBox(region->region, LoopDomain(other->parent, loop_, scope), analyzer_));
        for (size_t i = 0; i < boxes.back().size(); ++i) {
          IntervalSet& set = boxes.back()[i];
          const auto is_unknown = [&](const PrimExpr* end) {
            return LoadsComputed(end) || MayDivideByZero(end, loop_, analyzer_);
          };
          if (is_unknown(set.min()) || is_unknown(set.max())) set = WholeDim(*buffer, i, analyzer_.make());
        }
      }
    }
    return boxes;
  }

  // Returns whether the expression loads what the block, or another one under the loop, computes: it has no value yet
  // where the domains are needed.
  bool LoadsComputed(const PrimExpr* expr) {
    bool found = false;
    const auto look = [&](const Node* node) {
      const auto* load = As<tir::BufferLoad>(node);
      if (!load || found) return;
      const auto writes = [&](const Ref* ref) { return UsesBuffer(ref->block().writes, load->buffer); };
      found = writes(block_) || std::ranges::any_of(state_.ChildrenOf(loop_), writes);
    };
    if (expr) tir::PostOrderVisit(expr, look);
    return found;
  }

  // Iterations that run at once do not compute the same elements, unless only they use these.
  Status CheckConcurrentLoops(const tir::Stmt* new_loop) {
    for (const Ref* ref = loop_; ref->is_loop(); ref = ref->parent) {
      const tir::For& loop = ref->loop();
      const std::string_view thread = loop.thread_binding ? loop.thread_binding->thread_tag : std::string_view();
      const bool by_threads = !thread.empty() && !IsVirtualThreadTag(thread);
      const bool at_once =
          by_threads || loop.for_kind == tir::ForKind::kParallel || loop.for_kind == tir::ForKind::kVectorized;
      if (!at_once || arith::IsInt(loop.extent, 1)) continue;
      if ((by_threads || consumers_.empty()) && MayRunAtOnce(block_->block())) continue;
      if (HasOwnMemory(state_, block_, ref, by_threads ? thread : std::string_view())) continue;
      const BlocksInLoops blocks = FindBlocksInLoops(new_loop, LoopDomain(loop_, ref->parent), workspace_);
      const auto moved =
          std::ranges::find(blocks.found, &block_->block(), [](const auto& b) { return b.realize->block; });
      if (RunsOnceIn(state_, ref, *moved, blocks)) continue;
      // The elements depend on the data parallel axes: only the threads of a block divide a reduction.
      const bool may_reduce = by_threads && ThreadTag::Of(thread).rank == ThreadRank::kThread;
      std::vector<const PrimExpr*> spatial, values;
      for (size_t i = 0; i < moved->values.size(); ++i) {
        if (!may_reduce && block_->block().iter_vars[i]->iter_type != tir::IterVarType::kDataPar) continue;
        spatial.push_back(moved->values[i]);
        if (tir::UsesVar(spatial.back(), loop.loop_var)) values.push_back(spatial.back());
      }
      if (!values.empty() && DetermineInnerLoops(state_, values, spatial, blocks.loops, ref->parent, moved->condition))
        continue;
      return state_.Refuse("iterations of the loop {0} would compute the same in the block {1}", {&loop, block_->stmt});
    }
    return {};
  }

  // A loop that may turn out not to run decides what the block computes. Nobody consumes what a producer leaves out
  // then.
  Status CheckLoopsRun() {
    for (const Ref* ref = loop_; ref->is_loop(); ref = ref->parent) {
      const tir::For& loop = ref->loop();
      if (used_.contains(loop.loop_var) || analyzer_.CanProveGreaterEqual(loop.extent, 1)) continue;
      return state_.Refuse("the loop {0} may not run, and the block {1} does not depend on it", {&loop, block_->stmt});
    }
    return {};
  }

  const tir::Stmt* MakeNewLoop(size_t position, const std::vector<AxisDomain>& domains, bool preserve_unit_loops) {
    const arith::PrimBuilder& make = analyzer_.make();
    const tir::Block& block = block_->block();
    std::vector<std::pair<const tir::Var*, const PrimExpr*>> loops;
    std::vector<const PrimExpr*> values;
    const PrimExpr* condition = make.Bool(true);
    const auto require = [&](const PrimExpr* holds) {
      if (!analyzer_.CanProve(holds) && !CanProveByExtremes(holds, loop_domains_, analyzer_))
        condition = make.Binary(NodeKind::kAnd, condition, holds);
    };
    tir::VarValues bindings;
    for (size_t i = 0; i < domains.size(); ++i) {
      const tir::Range* range = RangeOf(domains[i].dom, *block.iter_vars[i]->dom, analyzer_, workspace_);
      if (preserve_unit_loops || !arith::IsInt(range->extent, 1)) {
        const int bits = std::max<int>(range->min->dtype.bits, range->extent->dtype.bits);
        const tir::Var* var = workspace_.NewPrimVar(fmt::format("ax{}", loops.size()), DataType::Int(bits));
        loops.emplace_back(var, analyzer_.Simplify(range->extent));
        values.push_back(make.Add(range->min, var));
        Bind(var, tir::Range(make.Const(0, var->dtype), range->extent));
      } else {
        values.push_back(range->min);
      }
      bindings[block.iter_vars[i]->var] = make.Cast(block.iter_vars[i]->var->dtype, values[i]);
      const IntervalSet& bound = domains[i].bound;
      if (bound.is_nothing()) continue;
      if (bound.min()) require(make.Binary(NodeKind::kGE, values[i], bound.min()));
      if (bound.max())
        require(make.Binary(NodeKind::kLT, values[i], make.Add(bound.max(), make.Const(1, bound.max()->dtype))));
    }
    for (const PrimExpr* holds : axis_conditions_) require(tir::Substitute(holds, bindings, workspace_));
    new_condition_ = analyzer_.Simplify(condition);
    const tir::Stmt* nest = MakeRealize(values, new_condition_, &block, workspace_);
    const auto use = [&](const PrimExpr* expr) {
      tir::ForEachVar(expr, [&](const tir::Var* var) { used_.insert(var); });
    };
    std::ranges::for_each(values, use);
    use(new_condition_);
    for (const auto& [var, extent] : loops) use(extent);
    for (size_t i = loops.size(); i > 0; --i)
      nest = MakeLoop(loops[i - 1].first, loops[i - 1].second, nest, workspace_);
    std::vector<const tir::Stmt*> statements = StatementsOf(loop_->loop().body);
    statements.insert(statements.begin() + static_cast<std::ptrdiff_t>(position), nest);
    return WithBody(loop_->loop(), tir::MakeSeq(workspace_, statements), workspace_);
  }

  State& state_;
  Workspace& workspace_;
  Ref* block_;
  Ref* loop_;
  Ref* scope_ = nullptr;
  const bool is_compute_at_;
  Analyzer analyzer_;
  arith::VarDomains loop_domains_;  // of the loops around, and of the new ones
  std::vector<Ref*> producers_, consumers_;
  LookupSet<const tir::Var*> used_;               // in the new loops, and for the axes
  std::vector<const PrimExpr*> axis_conditions_;  // of the block, in its axes
  const PrimExpr* new_condition_ = nullptr;       // of the block at its new place, in the loops there
};

template <class Args>
Status Move(PrimitiveCall& call, const Args& args, bool is_compute_at) {
  if (!args.loop.ref) {
    if (args.loop.value == kComputeAtRoot) return {};
    return is_compute_at ? ApplyComputeInline(call, {args.block}) : ApplyReverseComputeInline(call, {args.block});
  }
  Mover mover(call.state(), args.block, args.loop.ref, is_compute_at);
  return mover.Move(args.preserve_unit_loops, args.index);
}

}  // namespace

Status ApplyComputeAt(PrimitiveCall& call, const args::ComputeAt<Resolved>& args) {
  return Move(call, args, /*is_compute_at=*/true);
}

Status ApplyReverseComputeAt(PrimitiveCall& call, const args::ReverseComputeAt<Resolved>& args) {
  return Move(call, args, /*is_compute_at=*/false);
}

}  // namespace iropt::schedule
