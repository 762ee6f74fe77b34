// The block that copies a buffer, and the accesses of the buffer that become those of its copy.
#include <algorithm>
#include <utility>

#include "cache.h"
#include "iropt/ir/map_list.h"
#include "schedule/region_tools.h"

namespace iropt::schedule {

// ---- The block that copies

const tir::Block* MakeCopyBlock(const CopyStage& stage, const std::vector<const tir::IterVar*>& axes,
                                const std::vector<const PrimExpr*>& read_indices,
                                const std::vector<const PrimExpr*>& write_indices, const std::string& name,
                                Workspace& workspace) {
  const auto* load =
      workspace.New<tir::BufferLoad>(stage.read_buffer->dtype, stage.read_buffer, workspace.Copy(read_indices));
  const auto* store = workspace.New<tir::BufferStore>(stage.write_buffer, load, workspace.Copy(write_indices));
  std::vector<const tir::BufferRegion*> reads = {PointRegion(stage.read_buffer, read_indices, workspace)};
  for (const auto* indices : {&read_indices, &write_indices}) {
    for (const PrimExpr* index : *indices) {
      tir::PostOrderVisit(index, [&](const Node* node) {
        const auto* inner = As<tir::BufferLoad>(node);
        if (!inner) return;
        const std::vector<const PrimExpr*> at(inner->indices.begin(), inner->indices.end());
        reads.push_back(PointRegion(inner->buffer, at, workspace));
      });
    }
  }
  const tir::BufferRegion* writes[] = {PointRegion(stage.write_buffer, write_indices, workspace)};
  return workspace.New<tir::Block>(workspace.Copy(axes), workspace.Copy(reads),
                                   workspace.Copy(std::span<const tir::BufferRegion* const>(writes)),
                                   workspace.arena().CopyString(name), List<const tir::Buffer*>(),
                                   List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr, store);
}

// ---- Rewriting accesses

const tir::Stmt* InsertStage(const tir::Stmt* body, int position, const tir::Stmt* stage, Workspace& workspace) {
  std::vector<const tir::Stmt*> statements = StatementsOf(BelowDeclarations(body));
  statements.insert(statements.begin() + std::min<std::ptrdiff_t>(position, std::ssize(statements)), stage);
  return WithBelowDeclarations(body, tir::MakeSeq(workspace, statements), workspace);
}

AccessRewriter::AccessRewriter(const CopyStage& stage, const tir::Buffer* from, const tir::Buffer* to,
                               const tir::Block* scope, const PathSet& paths, Workspace& workspace)
    : StmtExprMutator(workspace),
      stage_(stage),
      from_(from),
      to_(to),
      scope_(scope),
      paths_(paths),
      analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

std::vector<const PrimExpr*> AccessRewriter::MapIndices(List<const PrimExpr*> indices) {
  if (stage_.indices) return *stage_.indices;
  std::vector<const PrimExpr*> mapped(indices.begin(), indices.end());
  if (stage_.full_region) return mapped;
  for (size_t i = 0; i < mapped.size(); ++i)
    mapped[i] = analyzer_.Simplify(analyzer_.make().Sub(mapped[i], stage_.region->region[i]->min));
  return mapped;
}

const tir::BufferRegion* AccessRewriter::MapRegion(const tir::BufferRegion* region) {
  if (region->buffer != from_) return region;
  std::vector<const tir::Range*> ranges(region->region.begin(), region->region.end());
  if (stage_.indices) {
    ranges = Points(*stage_.indices, workspace());
  } else if (!stage_.full_region) {
    for (size_t i = 0; i < ranges.size(); ++i) {
      const PrimExpr* min = analyzer_.Simplify(analyzer_.make().Sub(ranges[i]->min, stage_.region->region[i]->min));
      ranges[i] = workspace().New<tir::Range>(min, ranges[i]->extent);
    }
  }
  return MakeRegion(to_, ranges, workspace());
}

List<const tir::BufferRegion*> AccessRewriter::MapRegions(List<const tir::BufferRegion*> regions) {
  return MapList(regions, workspace(), [this](const tir::BufferRegion* region) { return MapRegion(region); });
}

List<const tir::MatchBufferRegion*> AccessRewriter::MapMatches(List<const tir::MatchBufferRegion*> matches) {
  return MapList(matches, workspace(), [this](const tir::MatchBufferRegion* old) -> const tir::MatchBufferRegion* {
    if (old->source->buffer != from_) return old;
    return workspace().New<tir::MatchBufferRegion>(old->buffer, MapRegion(old->source));
  });
}

const PrimExpr* AccessRewriter::MapLoad(const tir::BufferLoad* load) {
  auto* copy = workspace().New<tir::BufferLoad>(*load);
  copy->buffer = to_;
  if (!IsMention(*load)) copy->indices = workspace().Copy(MapIndices(load->indices));
  return copy;
}

const tir::Stmt* AccessRewriter::MapStore(const tir::BufferStore* store) {
  auto* copy = workspace().New<tir::BufferStore>(*store);
  copy->buffer = to_;
  copy->indices = workspace().Copy(MapIndices(store->indices));
  return copy;
}

const PrimExpr* AccessRewriter::VisitVar(const tir::Var* var) {
  return var == from_->data ? to_->data : StmtExprMutator::VisitVar(var);
}

const tir::MatchBufferRegion* AccessRewriter::VisitMatchBufferRegion(const tir::MatchBufferRegion* match) {
  const bool is_copied = match->source->buffer == from_ || RemapOf(match->source->buffer);
  if (!is_copied || from_->scope() == to_->scope()) return StmtExprMutator::VisitMatchBufferRegion(match);
  const tir::Buffer* view = CopyBuffer(*match->buffer, {.scope = to_->scope(), .is_view = true}, workspace());
  Remap(match->buffer, view);
  Remap(match->buffer->data, view->data);
  return workspace().New<tir::MatchBufferRegion>(view, VisitBufferRegion(match->source));
}

const tir::Stmt* AccessRewriter::VisitBlockRealize(const tir::BlockRealize* realize) {
  if (is_outside_ && !paths_.contains(realize->block)) return realize;
  const bool was_outside = std::exchange(is_outside_, false);
  const tir::Stmt* visited = StmtExprMutator::VisitBlockRealize(realize);
  is_outside_ = was_outside;
  return visited;
}

const tir::Stmt* AccessRewriter::VisitFor(const tir::For* loop) {
  if (is_outside_ && !paths_.contains(loop)) return loop;
  const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(loop));
  if (loop != stage_.location->stmt) return visited;
  return WithBody(*visited, InsertStage(visited->body, stage_.position, stage_.stmt, workspace()), workspace());
}

const tir::Block* AccessRewriter::Finish(const tir::Block* block, const tir::Block* visited, bool accesses_copy) {
  if (block == stage_.location->stmt)
    visited = To<tir::Block>(
        WithBody(*visited, InsertStage(visited->body, stage_.position, stage_.stmt, workspace()), workspace()));
  if (block == scope_ && visited != block)
    visited = CopyBlock(*visited, workspace(), [&](tir::Block& copy) {
      if (stage_.alloc) copy.alloc_buffers = With(copy.alloc_buffers, stage_.alloc, workspace());
      // They are of what is outside, also indices that are loaded.
      copy.reads = block->reads;
      copy.writes = block->writes;
    });
  if (accesses_copy)
    visited = CopyBlock(*visited, workspace(), [&](tir::Block& copy) {
      copy.reads = MapRegions(copy.reads);
      copy.writes = MapRegions(copy.writes);
      copy.match_buffers = MapMatches(copy.match_buffers);
    });
  if (visited != block) reuse.emplace_back(block, visited);
  return visited;
}

}  // namespace iropt::schedule
