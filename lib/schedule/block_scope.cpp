// Dependences between the blocks of a scope, and whether what they read has been written.
#include <algorithm>

#include "checks.h"
#include "iropt/arith/int_set.h"
#include "iropt/schedule/state.h"
#include "iropt/support/lookup.h"
#include "region_tools.h"
#include "stmt_tools.h"

namespace iropt::schedule {

namespace {

void AddDependence(BlockScope& info, Ref* src, Ref* dst, DependenceKind kind) {
  if (src != dst) info.dependences.push_back({src, dst, kind});
}

// What a block accesses. A block that states nothing has what the blocks in it access, but for buffers of its own.
struct Accesses {
  std::vector<const tir::BufferRegion*> reads, writes;
};

class NestedAccesses : public StmtWalker {
 public:
  Accesses found;

 protected:
  void VisitBlock(const tir::Block* block) override {
    std::vector<const tir::Buffer*> own(block->alloc_buffers.begin(), block->alloc_buffers.end());
    own_.insert(own_.end(), own.begin(), own.end());
    for (const tir::BufferRegion* region : block->reads) Add(found.reads, region);
    for (const tir::BufferRegion* region : block->writes) Add(found.writes, region);
    StmtWalker::VisitBlock(block);
  }

 private:
  void Add(std::vector<const tir::BufferRegion*>& regions, const tir::BufferRegion* region) {
    const auto is_same = [&](const tir::BufferRegion* known) { return known->buffer == region->buffer; };
    if (std::ranges::find(own_, region->buffer) == own_.end() && std::ranges::none_of(regions, is_same))
      regions.push_back(region);
  }

  std::vector<const tir::Buffer*> own_;
};

Accesses AccessesOf(const tir::Block& block) {
  if (block.reads.empty() && block.writes.empty()) {
    NestedAccesses nested;
    nested.VisitStmt(block.body);
    return std::move(nested.found);
  }
  return {{block.reads.begin(), block.reads.end()}, {block.writes.begin(), block.writes.end()}};
}

void AddDependences(BlockScope& info) {
  LookupMap<const tir::Buffer*, std::vector<Ref*>> readers;
  for (Ref* child : info.children) {
    const Accesses block = AccessesOf(child->block());
    for (const tir::BufferRegion* region : block.reads) readers[region->buffer].push_back(child);
    for (const tir::BufferRegion* region : block.writes) info.writers[region->buffer].push_back(child);
    for (const tir::BufferRegion* region : block.reads) {
      const auto* from = info.writers.Find(region->buffer);
      if (!from) continue;
      for (Ref* src : *from) AddDependence(info, src, child, DependenceKind::kReadAfterWrite);
    }
    for (const tir::BufferRegion* region : block.writes) {
      for (Ref* src : info.writers[region->buffer]) AddDependence(info, src, child, DependenceKind::kWriteAfterWrite);
    }
    for (const tir::BufferRegion* region : block.writes) {
      const auto* from = readers.Find(region->buffer);
      if (!from) continue;
      for (Ref* src : *from) AddDependence(info, src, child, DependenceKind::kWriteAfterRead);
    }
  }
}

std::vector<Ref*> Neighbors(const std::vector<Dependence>& dependences, const Ref* block, Ref* Dependence::*here,
                            Ref* Dependence::*there) {
  std::vector<Ref*> found;
  for (const Dependence& dependence : dependences) {
    if (dependence.*here != block || dependence.kind == DependenceKind::kWriteAfterRead) continue;
    if (std::ranges::find(found, dependence.*there) == found.end()) found.push_back(dependence.*there);
  }
  return found;
}

// Whether each dimension of what is consumed is in what is produced, as far as it is in the buffer.
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

std::vector<Ref*> BlockScope::ProducersOf(const Ref* block) const {
  return Neighbors(dependences, block, &Dependence::dst, &Dependence::src);
}

std::vector<Ref*> BlockScope::ConsumersOf(const Ref* block) const {
  return Neighbors(dependences, block, &Dependence::src, &Dependence::dst);
}

const BlockScope& State::ScopeInfo(Ref* block) {
  std::unique_ptr<Info>& info = infos_[block];
  if (!info) info = std::make_unique<Info>();
  if (!info->scope) {
    info->scope = std::make_unique<BlockScope>();
    info->scope->children = ChildrenOf(block);
    AddDependences(*info->scope);
    if (!kept_[block].stage_pipeline) CheckCover(block, *info->scope);
    info->scope->is_stage_pipeline = *kept_[block].stage_pipeline;
  }
  return *infos_[block]->scope;
}

void State::CheckCover(Ref* scope, BlockScope& info) {
  arith::Analyzer analyzer(make(), arith::Analyzer::SymVars::kAny);
  for (const Ref* child : info.children) BindLoopsAround(child->parent, analyzer);
  bool is_stage_pipeline = true;
  for (Ref* consumer : info.children) {
    std::vector<Ref*> producers;
    for (const Dependence& dependence : info.dependences) {
      if (dependence.dst != consumer) continue;
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

bool State::CoversReads(Ref* consumer, const std::vector<Ref*>& producers, Ref* lca, arith::Analyzer& analyzer) {
  const tir::BlockRealize& consumer_realize = *RealizeOf(consumer);
  const tir::VarValues consumer_bindings = BindingsOf(consumer_realize);
  for (const tir::BufferRegion* read : consumer->block().reads) {
    std::vector<Box> touched;
    for (const Ref* producer : producers) {
      const tir::BlockRealize& realize = *RealizeOf(producer);
      for (const tir::BufferRegion* write : producer->block().writes) {
        if (write->buffer != read->buffer) continue;
        const auto* region = tir::Substitute(write, BindingsOf(realize), workspace_);
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
