// Copies of buffers that have other indices.
//
//   B[vi] = A[vi // 4, vi % 4]      reindex_cache_read with lambda i: (i,)      -->      B[vi] = A_shared[vi]
//
// Source: ReindexCacheRead and ReindexCacheWrite of TVM's src/tir/schedule/primitive/cache_read_write.cc.
#include <fmt/format.h>

#include <algorithm>

#include "cache.h"
#include "schedule/checks.h"
#include "schedule/index_map_tools.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;

class ReindexStageMaker {
 public:
  ReindexStageMaker(State& state, Ref* block, bool is_read, const tir::BufferRegion& access)
      : state_(state),
        workspace_(state.workspace()),
        block_(block),
        is_read_(is_read),
        access_(access),
        analyzer_(state.make(), Analyzer::SymVars::kAny) {}

  Status Make(const IndexMapAttr& map, const std::string& memory, CopyStage& stage) {
    const tir::Block& block = block_->block();
    if (!ChildRealizes(block).empty())
      return state_.Refuse("the block {0} has other blocks in it, whose accesses are not rewritten", {&block});
    for (const tir::Range* range : access_.region) {
      if (!arith::IsInt(range->extent, 1))
        return state_.Refuse(fmt::format("the block {{0}} accesses more than one element of {}, which {} needs",
                                         access_.buffer->name, is_read_ ? "reindex_cache_read" : "reindex_cache_write"),
                             {&block});
    }
    std::vector<const PrimExpr*> places;
    for (const tir::Range* range : access_.region) places.push_back(range->min);
    IROPT_RETURN_IF_ERROR(CheckInsideForAxes(state_, *access_.buffer, places, block, nullptr));
    if (!is_read_) IROPT_RETURN_IF_ERROR(CheckStoresAlways(state_, *access_.buffer, block));
    IROPT_RETURN_IF_ERROR(CheckOneElement(block));
    if (map.params.size() != block.iter_vars.size())
      return state_.Refuse(fmt::format("the index map has {} parameters, but the block {{0}} has {} axes",
                                       map.params.size(), block.iter_vars.size()),
                           {&block});
    std::vector<const PrimExpr*> axes, extents;
    for (const tir::IterVar* axis : block.iter_vars) {
      axes.push_back(axis->var);
      extents.push_back(state_.make().Add(axis->dom->min, axis->dom->extent));
    }
    indices_ = schedule::MapIndices(map, axes, analyzer_);
    const auto shape = MapShape(map, extents, analyzer_, workspace_);
    if (!shape) return state_.Refuse("the index map has results that do not begin with 0");
    IROPT_RETURN_IF_ERROR(CheckSameAxes());
    const std::vector<const PrimExpr*> sizes = SizesOf(state_, stage.location, *shape);
    const tir::Buffer* copy = CopyBuffer(
        *access_.buffer, {.name = fmt::format("{}_{}", access_.buffer->name, memory), .scope = memory, .shape = &sizes},
        workspace_);
    (is_read_ ? stage.write_buffer : stage.read_buffer) = copy;
    stage.alloc = copy;
    stage.indices = &indices_;
    MakeNest(memory, stage);
    return {};
  }

 private:
  // All accesses of the block get the new indices, whatever the block says about its regions.
  Status CheckOneElement(const tir::Block& block) {
    bool is_one = true;
    const auto note = [&](const tir::Buffer* buffer, List<const PrimExpr*> indices) {
      for (size_t i = 0; buffer == access_.buffer && i < indices.size(); ++i)
        is_one = is_one && analyzer_.CanProveEqual(indices[i], access_.region[i]->min);
    };
    for (const tir::Stmt* part : {block.init, block.body}) {
      if (!part) continue;
      tir::PostOrderVisit(part, [&](const Node* node) {
        if (const auto* store = As<tir::BufferStore>(node)) note(store->buffer, store->indices);
        if (const auto* load = As<tir::BufferLoad>(node)) note(load->buffer, load->indices);
      });
    }
    if (is_one) return {};
    return state_.Refuse(
        fmt::format("the block {{0}} accesses several elements of {} in one of its iterations", access_.buffer->name),
        {&block});
  }

  // The axes in the old indices are those in the new ones.
  Status CheckSameAxes() {
    std::vector<const PrimExpr*> old_indices;
    for (const tir::Range* range : access_.region) old_indices.push_back(range->min);
    const auto uses = [](const std::vector<const PrimExpr*>& indices, const tir::Var* var) {
      return std::ranges::any_of(indices, [&](const PrimExpr* index) { return tir::UsesVar(index, var); });
    };
    const tir::Block& block = block_->block();
    for (size_t i = 0; i < block.iter_vars.size(); ++i) {
      const tir::Var* var = block.iter_vars[i]->var;
      const bool in_new = uses(indices_, var);
      if (in_new != uses(old_indices, var))
        return state_.Refuse(
            fmt::format(
                "cannot apply {0}: the axis {1} of the block {{0}} is in the {2} indices, but not in the {3} ones",
                is_read_ ? "reindex_cache_read" : "reindex_cache_write", var->name, in_new ? "new" : "old",
                in_new ? "old" : "new"),
            {&block});
      if (in_new) used_.push_back(i);
    }
    return {};
  }

  // Loops over the axes that are used, as they are around the block below the place of the copy.
  void MakeNest(const std::string& memory, CopyStage& stage) {
    const tir::Block& block = block_->block();
    const tir::BlockRealize& realize = *state_.RealizeOf(block_);
    tir::VarValues renamed;
    std::vector<const tir::For*> loops;
    for (const Ref* ref = block_->parent; ref && ref->is_loop() && ref != stage.location; ref = ref->parent) {
      const tir::For& loop = ref->loop();
      const auto uses = [&](size_t i) { return tir::UsesVar(realize.iter_values[i], loop.loop_var); };
      const auto bounds = [&](const tir::For* inner) {
        return tir::UsesVar(inner->min, loop.loop_var) || tir::UsesVar(inner->extent, loop.loop_var);
      };
      if (std::ranges::any_of(used_, uses) || std::ranges::any_of(loops, bounds) ||
          tir::UsesVar(realize.predicate, loop.loop_var))
        loops.push_back(&loop);
    }
    for (const tir::For* loop : loops) renamed[loop->loop_var] = CopyVar(*loop->loop_var, workspace_);
    std::vector<const tir::IterVar*> axes;
    std::vector<const PrimExpr*> values;
    for (const size_t i : used_) {
      const tir::IterVar& axis = *block.iter_vars[i];
      const tir::Var* var = CopyVar(*axis.var, workspace_);
      renamed[axis.var] = var;
      axes.push_back(workspace_.New<tir::IterVar>(axis.dom, var, tir::IterVarType::kDataPar));
      values.push_back(tir::Substitute(realize.iter_values[i], renamed, workspace_));
    }
    std::vector<const PrimExpr*> old_indices, new_indices;
    for (const tir::Range* range : access_.region)
      old_indices.push_back(tir::Substitute(range->min, renamed, workspace_));
    for (const PrimExpr* index : indices_) new_indices.push_back(tir::Substitute(index, renamed, workspace_));
    stage.block = MakeCopyBlock(stage, axes, is_read_ ? old_indices : new_indices, is_read_ ? new_indices : old_indices,
                                fmt::format("{}_{}", access_.buffer->name, memory), workspace_);
    stage.stmt = MakeRealize(values, tir::Substitute(realize.predicate, renamed, workspace_), stage.block, workspace_);
    for (const tir::For* loop : loops) {
      auto* copy = workspace_.New<tir::For>(*loop);
      copy->loop_var = To<tir::Var>(renamed.at(loop->loop_var));
      copy->min = tir::Substitute(loop->min, renamed, workspace_);
      copy->extent = tir::Substitute(loop->extent, renamed, workspace_);
      copy->for_kind = tir::ForKind::kSerial;
      copy->thread_binding = nullptr;
      copy->annotations = DictAttr::Empty();
      copy->body = stage.stmt;
      stage.stmt = copy;
    }
  }

  State& state_;
  Workspace& workspace_;
  Ref* block_;
  const bool is_read_;
  const tir::BufferRegion& access_;
  Analyzer analyzer_;
  std::vector<const PrimExpr*> indices_;
  std::vector<size_t> used_;
};

// The last of the writer of the buffer (null: none) and of those of what its indices are read from.
Ref* LastWriter(State& state, Ref* scope, const tir::BufferRegion& access, Ref* writer) {
  for (const tir::Range* range : access.region) {
    tir::PostOrderVisit(range->min, [&](const Node* node) {
      const auto* load = As<tir::BufferLoad>(node);
      if (!load) return;
      for (Ref* other : state.ScopeInfo(scope).WritersOf(load->buffer)) {
        if (!writer || writer->place < other->place) writer = other;
      }
    });
  }
  return writer;
}

// The copy of what the block writes comes after the loops under the location: no other block in them reads it.
Status CheckReadAfterLoops(State& state, const Ref* scope, const Ref* block, const CopyStage& stage) {
  const auto is_around = [](const Ref* loop, const Ref* ref) {
    while (ref && ref != loop) ref = ref->parent;
    return ref != nullptr;
  };
  for (const Ref* other : state.ChildrenOf(scope)) {
    if (other == block || !FindRegion(other->block().reads, stage.write_buffer)) continue;
    for (const Ref* loop = other->parent; loop != scope && loop != stage.location; loop = loop->parent) {
      if (is_around(loop, block))
        return state.Refuse("the block {0} reads what the block {1} writes in the same loop, before it is copied",
                            {other->stmt, block->stmt});
    }
  }
  return {};
}

template <class Args>
Status ReindexCache(PrimitiveCall& call, const Args& args, int64_t index, bool is_read) {
  State& state = call.state();
  Ref* ref = args.block;
  const std::string& memory = args.storage_scope;
  IROPT_RETURN_IF_ERROR(CheckStorageScope(state, memory));
  IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* access, RequireAccess(state, ref, index, !is_read));
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state, ref, /*stage_pipeline=*/true));
  IROPT_RETURN_IF_ERROR(CheckUsesOnlyAxes(state, ref));
  CopyStage stage;
  (is_read ? stage.read_buffer : stage.write_buffer) = access->buffer;
  IROPT_ASSIGN_OR_RETURN(Ref * writer, OnlyWriter(state, scope, access->buffer));
  if (!is_read) IROPT_RETURN_IF_ERROR(CheckReadsOwnValues(state, scope, ref, access->buffer));
  if (is_read) {
    stage.consumers.insert(ref->stmt);
    writer = LastWriter(state, scope, *access, writer);
  }
  stage.location = scope;
  if (!is_read || writer) FindLocation(state, is_read ? writer : ref, scope, is_read, stage);
  if (!is_read) IROPT_RETURN_IF_ERROR(CheckReadAfterLoops(state, scope, ref, stage));
  ReindexStageMaker maker(state, ref, is_read, *access);
  IROPT_RETURN_IF_ERROR(maker.Make(*args.index_map, memory, stage));
  call.Return(is_read ? InsertRead(state, scope, stage) : InsertWrite(state, scope, ref, stage));
  return {};
}

}  // namespace

Status ApplyReindexCacheRead(PrimitiveCall& call, const args::ReindexCacheRead<Resolved>& args) {
  return ReindexCache(call, args, args.read_buffer_index, /*is_read=*/true);
}

Status ApplyReindexCacheWrite(PrimitiveCall& call, const args::ReindexCacheWrite<Resolved>& args) {
  return ReindexCache(call, args, args.write_buffer_index, /*is_read=*/false);
}

}  // namespace iropt::schedule
