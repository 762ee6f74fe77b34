// What the state knows: dependences, whether what blocks read has been written, and whether bindings are affine.
#include <algorithm>

#include "iropt/arith/int_set.h"
#include "iropt/schedule/state.h"
#include "region_tools.h"
#include "stmt_tools.h"

namespace iropt::schedule {

namespace {

// Returns whether each dimension of what is consumed is in what is produced, as far as it is in the buffer.
bool Covers(const tir::Buffer& buffer, const Box& produced, const Box& consumed, arith::Analyzer& analyzer) {
  const arith::PrimBuilder& make = analyzer.make();
  for (size_t i = 0; i < consumed.size(); ++i) {
    if (produced[i].is_nothing()) return false;
    if (consumed[i].is_nothing()) continue;
    const arith::IntervalSet whole =
        arith::IntervalSet::FromRange(make.Const(0, buffer.shape[i]->dtype), buffer.shape[i], make);
    const auto within = [&](const arith::IntervalSet& set) {
      const PrimExpr* min = set.min() ? analyzer.CanonicalSimplify(set.min()) : nullptr;
      const PrimExpr* max = set.max() ? analyzer.CanonicalSimplify(set.max()) : nullptr;
      return arith::Intersect(arith::IntervalSet::Interval(min, max), whole, analyzer);
    };
    const arith::IntervalSet p = within(produced[i]);
    const arith::IntervalSet c = within(consumed[i]);
    if (c.is_nothing()) continue;
    if (!p.is_bounded() || !c.is_bounded()) return false;
    const PrimExpr* zero = make.Const(0, p.min()->dtype);
    const PrimExpr* below = analyzer.CanonicalSimplify(make.Sub(p.min(), c.min()));
    const PrimExpr* above = analyzer.CanonicalSimplify(make.Sub(c.max(), p.max()));
    if (!analyzer.CanProve(make.Binary(NodeKind::kLE, below, zero)) ||
        !analyzer.CanProve(make.Binary(NodeKind::kLE, above, zero)))
      return false;
  }
  return true;
}

}  // namespace

const BlockScope& State::ScopeInfo(Ref* block) {
  std::unique_ptr<BlockScope>& info = infos_[block];
  if (!info) info = std::make_unique<BlockScope>(ChildrenOf(block));
  const BlockScope& scope = *info;
  if (!kept_[block].stage_pipeline) CheckCover(block, scope);
  return scope;
}

bool State::IsStagePipeline(Ref* block) {
  ScopeInfo(block);
  return *kept_[block].stage_pipeline;
}

bool State::HasOnlyBlocks(Ref* block) {
  std::optional<bool>& known = kept_[block].only_blocks;
  if (!known) known = !HasBareStmts(*block->stmt);
  return *known;
}

void State::UpdateInfos(Ref* scope, const std::vector<Ref*>& before, const std::vector<Ref*>& after) {
  if (!scope) {
    infos_.clear();
    return;
  }
  std::unique_ptr<BlockScope>* info = infos_.Find(scope);
  if (info && *info && !(*info)->Replace(before, after)) info->reset();
  // The accesses of a block around that states nothing are those of the blocks in it.
  Ref* outer = ScopeOf(scope);
  for (Ref* block = scope; outer; block = outer, outer = ScopeOf(block)) {
    info = infos_.Find(outer);
    if (info && *info) (*info)->Update(block);
  }
}

void State::CheckCover(Ref* scope, const BlockScope& info) {
  arith::Analyzer analyzer(make(), arith::Analyzer::SymVars::kAny);
  for (const Ref* child : info.children()) BindLoopsAround(child->parent, analyzer);
  bool is_stage_pipeline = true;
  for (Ref* consumer : info.children()) {
    std::vector<Ref*> producers;
    for (const Dependence& dependence : info.DependencesTo(consumer)) {
      if (dependence.kind == DependenceKind::kWriteAfterRead) is_stage_pipeline = false;
      if (dependence.kind == DependenceKind::kReadAfterWrite) producers.push_back(dependence.src);
    }
    bool covered = kept_[consumer].covered.value_or(true);
    for (Ref* lca = consumer; covered && !kept_[consumer].covered && lca != scope->parent; lca = lca->parent) {
      std::vector<Ref*> under;  // the producers that meet the path of the consumer here
      for (Ref* producer : producers) {
        if (LowestCommonAncestor(producer, consumer) == lca) under.push_back(producer);
      }
      if (!under.empty()) covered = CoversReads(consumer, under, lca, analyzer);
    }
    std::optional<bool>& kept = kept_[consumer].covered;
    if (!kept) kept = covered;
    is_stage_pipeline = is_stage_pipeline && *kept;
  }
  kept_[scope].stage_pipeline = is_stage_pipeline;
}

void State::Recheck(Ref* scope) {
  infos_.clear();
  std::vector<Ref*> scopes{scope};
  kept_[scope].stage_pipeline.reset();
  for (size_t i = 0; i < scopes.size(); ++i) {
    for (Ref* child : ChildrenOf(scopes[i])) {
      kept_[child] = {};
      scopes.push_back(child);
    }
  }
  for (Ref* ref : scopes) {
    ScopeInfo(ref);
    IsAffine(ref);
  }
}

void State::RecheckBlocks(Ref* scope) {
  for (Ref* child : ChildrenOf(scope)) {
    kept_[child] = {};
    Recheck(child);
    kept_[child].covered = true;
  }
}

namespace {

// The values of the axes as they are: a cast would hide from proofs that a value is linear.
tir::VarValues ValuesOf(const tir::BlockRealize& realize) {
  tir::VarValues values;
  for (size_t i = 0; i < realize.iter_values.size(); ++i)
    values[realize.block->iter_vars[i]->var] = realize.iter_values[i];
  return values;
}

}  // namespace

bool State::CoversReads(Ref* consumer, const std::vector<Ref*>& producers, Ref* lca, arith::Analyzer& analyzer) {
  const tir::BlockRealize& consumer_realize = *RealizeOf(consumer);
  const tir::VarValues consumer_bindings = ValuesOf(consumer_realize);
  for (const tir::BufferRegion* read : consumer->block().reads) {
    std::vector<Box> touched;
    for (const Ref* producer : producers) {
      const tir::BlockRealize& realize = *RealizeOf(producer);
      for (const tir::BufferRegion* write : producer->block().writes) {
        if (write->buffer != read->buffer) continue;
        const auto* region = tir::Substitute(write, ValuesOf(realize), workspace_);
        touched.push_back(LowerBound(*region, realize.predicate,
                                     LoopDomain(producer->parent, lca, region->buffer->scope()), analyzer));
      }
    }
    if (touched.empty()) continue;
    const auto* region = tir::Substitute(read, consumer_bindings, workspace_);
    const Box consumed = UpperBound(*region, consumer_realize.predicate,
                                    LoopDomain(consumer->parent, lca, region->buffer->scope()), analyzer);
    if (!Covers(*read->buffer, UnionLowerBound(touched, analyzer), consumed, analyzer)) return false;
  }
  return true;
}

bool State::IsAffine(const Ref* block) {
  std::optional<bool>& affine = kept_[block].affine;
  if (!affine) {
    arith::Analyzer analyzer(make(), arith::Analyzer::SymVars::kAny);
    affine = block->parent ? IsAffineBinding(*RealizeOf(block), LoopDomain(block->parent), analyzer)
                           : block->block().iter_vars.empty();
  }
  return *affine;
}

bool State::IsRegionCovered(Ref* block) {
  if (Ref* scope = ScopeOf(block)) ScopeInfo(scope);
  const auto* found = kept_.Find(block);
  return !found || found->covered.value_or(true);
}

}  // namespace iropt::schedule
