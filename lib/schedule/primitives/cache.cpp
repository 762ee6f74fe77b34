// Reading and writing buffers through copies.
//
//   for i: C[i] = f(B[i])        cache_read B        for i: B_local[i] = B[i]
//                                    -->             for i: C[i] = f(B_local[i])
//
// Source: TVM's src/tir/schedule/primitive/cache_read_write.cc.
#include "cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/support/lookup.h"
#include "schedule/checks.h"
#include "schedule/index_map_tools.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"
#include "schedule/stored_region.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;

Status CheckRegionCover(State& state, Ref* scope, const tir::Buffer* buffer) {
  for (Ref* child : state.ScopeInfo(scope).ReadersOf(buffer)) {
    if (FindRegion(child->block().reads, buffer) && !state.IsRegionCovered(child))
      return state.Refuse(
          "a block in the scope {0} reads what its producers may not have written: expected them to write all of it",
          {scope->stmt});
  }
  return {};
}

// `target` is the scope or a loop in it.
bool AllConsumersUnder(State& state, const tir::Buffer* buffer, Ref* scope, const Ref* target) {
  return std::ranges::all_of(state.ScopeInfo(scope).ReadersOf(buffer), [&](const Ref* reader) {
    if (!FindRegion(reader->block().reads, buffer)) return true;
    const Ref* up = reader->parent;
    while (up != target && up != scope) up = up->parent;
    return up == target;
  });
}

// Returns whether the new buffer may begin with the copied region. The blocks that access it cannot use loops around
// their scope.
bool HasOwnIndices(State& state, Ref* scope, const CopyStage& stage) {
  if (stage.location->is_loop() || !AllConsumersUnder(state, stage.region->buffer, scope, stage.location)) return false;
  LookupSet<const tir::Var*> around;
  for (const Ref* ref = stage.location->parent; ref; ref = ref->parent) {
    if (ref->is_loop()) around.insert(ref->loop().loop_var);
  }
  return std::ranges::none_of(stage.region->region,
                              [&](const tir::Range* range) { return tir::UsesAnyOf(around, range->min); });
}

// The conditions of the blocks nested in a block that access the buffer, any of which may hold.
class NestedConditions : public StmtWalker {
 public:
  NestedConditions(const tir::Buffer* buffer, bool is_write, State& state)
      : buffer_(buffer), is_write_(is_write), state_(state) {}

  // Null without any, or if one depends on loops in the block.
  const PrimExpr* condition() const { return is_unknown_ ? nullptr : condition_; }

 protected:
  void VisitFor(const tir::For* loop) override {
    inner_.insert(loop->loop_var);
    StmtWalker::VisitFor(loop);
  }
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Block& block = *realize->block;
    if (FindRegion(is_write_ ? block.writes : block.reads, buffer_)) {
      const PrimExpr* own =
          tir::Substitute(realize->predicate, BindingsOf(*realize, state_.workspace()), state_.workspace());
      condition_ = condition_ ? state_.make().Binary(NodeKind::kOr, condition_, own) : own;
      is_unknown_ = is_unknown_ || tir::UsesVar(own, [&](const tir::Var* var) { return inner_.contains(var); });
    }
    for (const tir::IterVar* axis : block.iter_vars) inner_.insert(axis->var);
    StmtWalker::VisitBlockRealize(realize);
  }

 private:
  const tir::Buffer* buffer_;
  const bool is_write_;
  State& state_;
  LookupSet<const tir::Var*> inner_;
  const PrimExpr* condition_ = nullptr;
  bool is_unknown_ = false;
};

// Returns the region that the block accesses while the loops below `high` run.
const tir::BufferRegion* RelaxRegion(State& state, List<const tir::BufferRegion*> regions, const tir::Buffer* buffer,
                                     const Ref* block, const Ref* high, const PrimExpr* extra_condition) {
  Workspace& workspace = state.workspace();
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  const arith::PrimBuilder& make = analyzer.make();
  const tir::BlockRealize& realize = *state.RealizeOf(block);
  const tir::VarValues bindings = BindingsOf(realize, workspace);
  const PrimExpr* condition = realize.predicate;
  if (extra_condition) condition = make.Binary(NodeKind::kAnd, condition, extra_condition);
  condition = analyzer.Simplify(tir::Substitute(condition, bindings, workspace));
  std::vector<Box> boxes;
  for (const tir::BufferRegion* region : regions) {
    if (region->buffer != buffer) continue;
    const auto* bound = tir::Substitute(region, bindings, workspace);
    boxes.push_back(UpperBound(*bound, condition, LoopDomain(block->parent, high, buffer->scope()), analyzer));
  }
  const Box box = UnionBox(boxes, analyzer);
  std::vector<const tir::Range*> ranges;
  for (size_t i = 0; i < box.size(); ++i) {
    const PrimExpr* dim = buffer->shape[i];
    ranges.push_back(RangeOf(box[i], tir::Range(make.Const(0, dim->dtype), dim), analyzer, workspace));
  }
  return MakeRegion(buffer, ranges, workspace);
}

// The elements of the region that there are: where a condition guards the accesses, it may go beyond the buffer. It is
// the region of the block, or of one around it.
const tir::BufferRegion* CutToBuffer(State& state, const tir::BufferRegion* region, const Ref* block) {
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  BindShapes(*state.func(), analyzer);
  BindAxesAround(block, analyzer);
  const arith::PrimBuilder& make = analyzer.make();
  std::vector<const tir::Range*> ranges;
  for (size_t i = 0; i < region->region.size(); ++i) {
    const tir::Range* range = region->region[i];
    const PrimExpr* dim = region->buffer->shape[i];
    const bool is_inside = analyzer.CanProveGreaterEqual(range->min, 0) &&
                           analyzer.CanProve(make.Binary(NodeKind::kLE, make.Add(range->min, range->extent), dim));
    if (is_inside) {
      ranges.push_back(range);
      continue;
    }
    const PrimExpr* zero = make.Const(0, dim->dtype);
    const PrimExpr* begin = analyzer.Simplify(make.Max(range->min, zero));
    const PrimExpr* end = make.Min(make.Add(range->min, range->extent), dim);
    const PrimExpr* extent = analyzer.Simplify(make.Max(make.Sub(end, begin), zero));
    ranges.push_back(state.workspace().New<tir::Range>(begin, extent));
  }
  return MakeRegion(region->buffer, ranges, state.workspace());
}

// A copy in loops, or in a block with axes, is of elements that there are, also in iterations in which a condition
// keeps blocks from running.
Status CheckInsideBuffer(State& state, const CopyStage& stage) {
  if (stage.location->is_block()) {
    arith::IterRanges axes;
    for (const tir::IterVar* axis : stage.location->block().iter_vars) axes.insert_or_assign(axis->var, *axis->dom);
    std::vector<const PrimExpr*> begins;
    for (const tir::Range* range : stage.region->region) {
      begins.push_back(range->min);
      if (tir::UsesAnyOf(axes, range->extent))
        return state.Refuse(
            fmt::format("the size of a copy of {} in the block {{0}} depends on its axes", stage.region->buffer->name),
            {stage.location->stmt});
    }
    return CheckInside(state, *stage.region->buffer, begins, DomainsOf(axes, state.make()), stage.location->stmt);
  }
  if (IsInsideBuffer(state, *stage.region, stage.location)) return {};
  return state.Refuse(
      fmt::format("the copy of {} under the loop {{0}} may be of elements outside of it", stage.region->buffer->name),
      {stage.location->stmt});
}

// All elements that are copied have to be written by the block before.
Status CheckWritesAll(State& state, const CopyStage& stage, const Ref* block) {
  const tir::Buffer* buffer = stage.region->buffer;
  const auto stored = StoredBoxes(state, block, stage.location, buffer);
  if (!stored || ContainRegion(state, *stored, stage.region->region, stage.location)) return {};
  return state.Refuse(fmt::format("the block {{0}} does not write all elements of the region of {} that would be "
                                  "copied",
                                  buffer->name),
                      {block->stmt});
}

// Finds where a copy can be inserted: between the block that writes a buffer and the first of the related blocks, as
// far inside as both are.
class LocationFinder : public StmtWalker {
 public:
  LocationFinder(State& state, const Ref* scope, const Ref* block, const std::vector<Ref*>& related)
      : state_(state), scope_(scope), block_(block), related_(related) {
    paths_.Add(block, scope);
    for (const Ref* ref : related) paths_.Add(ref, scope);
  }
  Ref* location = nullptr;
  int position = -1;

 protected:
  void VisitSeqStmt(const tir::SeqStmt* seq) override {
    const bool visited_before = visited_block_;
    visited_block_ = false;
    for (size_t i = 0; i < seq->seq.size() && position == -1; ++i) {
      VisitStmt(seq->seq[i]);
      if (visited_block_ && visited_related_ && position == -1) {
        position = static_cast<int>(i);
        break;
      }
      if (visited_related_) break;
    }
    visited_block_ = visited_block_ || visited_before;
  }

  void VisitBlock(const tir::Block* block) override {
    if (block == scope_->stmt) {
      StmtWalker::VisitBlock(block);
      if (visited_related_ && !location) {
        location = state_.RefOf(block);
        if (!visited_block_ && position == -1) position = 0;
      }
      return;
    }
    if (block == block_->stmt) {
      visited_block_ = true;
    } else if (std::ranges::any_of(related_, [&](const Ref* ref) { return ref->stmt == block; })) {
      visited_related_ = true;
    }
  }

  void VisitFor(const tir::For* loop) override {
    if (paths_.contains(loop)) StmtWalker::VisitFor(loop);
    if (visited_block_ && visited_related_ && !location && position != -1) location = state_.RefOf(loop);
  }

 private:
  State& state_;
  const Ref* scope_;
  const Ref* block_;
  const std::vector<Ref*>& related_;
  PathSet paths_;
  bool visited_block_ = false;
  bool visited_related_ = false;
};

void AddConsumers(State& state, const std::vector<Ref*>& blocks, CopyStage& stage) {
  for (const Ref* block : blocks) {
    stage.consumers.insert(block->stmt);
    for (const Ref* child : state.ChildrenOf(block)) stage.consumers.insert(child->stmt);
  }
}

// Returns whether all readers of the copy are in the block.
bool IsOnlyConsumer(State& state, const Ref* block, Ref* scope, const CopyStage& stage) {
  if (stage.consumers.empty()) {
    return std::ranges::all_of(state.ScopeInfo(scope).ReadersOf(stage.read_buffer),
                               [&](const Ref* reader) { return reader == block; });
  }
  return std::ranges::all_of(stage.consumers, [&](const tir::Stmt* consumer) { return consumer == block->stmt; });
}

// A copy of the region, by loops over its ranges.
void MakeCopy(CopyStage& stage, std::string_view scope, bool is_read, Workspace& workspace) {
  const arith::PrimBuilder make(workspace);
  const tir::BufferRegion& region = *stage.region;
  std::vector<const tir::Var*> loops;
  std::vector<const PrimExpr*> values, plain, shifted;
  std::vector<const tir::IterVar*> axes;
  for (size_t i = 0; i < region.region.size(); ++i) {
    const tir::Range& range = *region.region[i];
    const DataType dtype = range.extent->dtype;
    const tir::Var* loop = workspace.NewPrimVar(fmt::format("ax{}", i), dtype);
    const tir::Var* axis = workspace.NewPrimVar(fmt::format("v{}", i), dtype);
    const PrimExpr* dim = stage.full_region ? region.buffer->shape[i] : range.extent;
    loops.push_back(loop);
    values.push_back(stage.full_region ? make.Add(range.min, loop) : loop);
    axes.push_back(workspace.New<tir::IterVar>(workspace.New<tir::Range>(make.Const(0, dim->dtype), dim), axis,
                                               tir::IterVarType::kDataPar));
    plain.push_back(axis);
    shifted.push_back(stage.full_region ? axis : make.Add(range.min, axis));
  }
  stage.block = MakeCopyBlock(stage, axes, is_read ? shifted : plain, is_read ? plain : shifted,
                              fmt::format("{}_{}", region.buffer->name, scope), workspace);
  stage.stmt = MakeRealize(values, nullptr, stage.block, workspace);
  for (size_t i = loops.size(); i > 0; --i)
    stage.stmt = MakeLoop(loops[i - 1], region.region[i - 1]->extent, stage.stmt, workspace);
}

// The memory for the copy: of the shape of the region, or of the whole buffer. Where a condition leaves out the first
// elements, the region may end before it begins.
const tir::Buffer* MakeCopyBuffer(State& state, const tir::Buffer* buffer, std::string_view scope,
                                  const CopyStage& stage) {
  std::vector<const PrimExpr*> shape;
  for (const tir::Range* range : stage.region->region) shape.push_back(range->extent);
  shape = SizesOf(state, stage.location, shape);
  BufferChange change{.name = fmt::format("{}_{}", buffer->name, scope), .scope = scope};
  if (!stage.full_region) change.shape = &shape;
  return CopyBuffer(*buffer, change, state.workspace());
}

}  // namespace

void FindLocation(State& state, Ref* writer, Ref* scope, bool is_read, CopyStage& stage) {
  std::vector<Ref*> related;
  if (is_read && !stage.consumers.empty()) {
    for (const tir::Stmt* consumer : stage.consumers) related.push_back(state.RefOf(consumer));
  } else {
    for (const Dependence& dependence : state.ScopeInfo(scope).DependencesFrom(writer)) {
      if (dependence.kind != DependenceKind::kReadAfterWrite) continue;
      if (is_read || !stage.consumers.contains(dependence.dst->stmt)) related.push_back(dependence.dst);
    }
  }
  stage.location = scope;
  stage.position = static_cast<int>(StatementsOf(BelowDeclarations(scope->block().body)).size());
  if (related.empty()) return;
  LocationFinder finder(state, scope, writer, related);
  finder.VisitStmt(scope->stmt);
  if (!finder.location) return;
  stage.location = finder.location;
  stage.position = std::max(finder.position, 0);
}

// ---- Rewriting accesses

namespace {

// Blocks that read the buffer read its copy: all, or the consumers alone.
class ReadRewriter : public AccessRewriter {
 public:
  ReadRewriter(const CopyStage& stage, const tir::Block* scope, const PathSet& paths, Workspace& workspace)
      : AccessRewriter(stage, stage.read_buffer, stage.write_buffer, scope, paths, workspace) {}

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const bool consumes = stage().consumers.empty() || stage().consumers.contains(block);
    const bool is_scope = block == scope();
    if (!is_scope && FindRegion(block->writes, stage().read_buffer)) return block;
    const bool outer = std::exchange(consumes_, consumes);
    const auto* visited = To<tir::Block>(AccessRewriter::VisitBlock(block));
    consumes_ = outer;
    return Finish(block, visited, !is_scope && consumes && Reads(*visited));
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const auto* visited = To<tir::BufferLoad>(AccessRewriter::VisitBufferLoad(load));
    return visited->buffer == stage().read_buffer && consumes_ ? MapLoad(visited) : visited;
  }
  const tir::MatchBufferRegion* VisitMatchBufferRegion(const tir::MatchBufferRegion* match) override {
    if (consumes_) return AccessRewriter::VisitMatchBufferRegion(match);
    return tir::StmtExprMutator::VisitMatchBufferRegion(match);  // NOLINT(bugprone-parent-virtual-call)
  }

 private:
  bool Reads(const tir::Block& block) const {
    return FindRegion(block.reads, stage().read_buffer) ||
           std::ranges::any_of(block.match_buffers, [&](const tir::MatchBufferRegion* match) {
             return match->source->buffer == stage().read_buffer;
           });
  }

  bool consumes_ = true;
};

// The writer writes the copy, and the consumers read it.
class WriteRewriter : public AccessRewriter {
 public:
  WriteRewriter(const CopyStage& stage, const tir::Block* scope, const tir::Block* writer, const PathSet& paths,
                Workspace& workspace)
      : AccessRewriter(stage, stage.write_buffer, stage.read_buffer, scope, paths, workspace), writer_(writer) {}

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const bool is_scope = block == scope();
    const bool consumes = stage().consumers.contains(block);
    if (!is_scope && !consumes && block != writer_ && !in_writer_) return block;
    const bool outer = std::exchange(in_writer_, in_writer_ || !is_scope);
    const auto* visited = To<tir::Block>(AccessRewriter::VisitBlock(block));
    in_writer_ = outer;
    return Finish(block, visited, !is_scope);
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const auto* visited = To<tir::BufferLoad>(AccessRewriter::VisitBufferLoad(load));
    return visited->buffer == stage().write_buffer ? MapLoad(visited) : visited;
  }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const auto* visited = To<tir::BufferStore>(AccessRewriter::VisitBufferStore(store));
    return visited->buffer == stage().write_buffer ? MapStore(visited) : visited;
  }

 private:
  const tir::Block* writer_;
  bool in_writer_ = false;
};

}  // namespace

namespace {

// The paths to the place of the copy, to its consumers, and to `blocks`.
PathSet PathsTo(const State& state, const Ref* scope, const CopyStage& stage, std::span<Ref* const> blocks) {
  PathSet paths;
  paths.Add(stage.location, scope);
  for (const tir::Stmt* consumer : stage.consumers) paths.Add(state.RefOf(consumer), scope);
  for (const Ref* block : blocks) paths.Add(block, scope);
  return paths;
}

}  // namespace

Ref* InsertRead(State& state, Ref* scope, const CopyStage& stage) {
  std::span<Ref* const> readers;
  if (stage.consumers.empty()) readers = state.ScopeInfo(scope).ReadersOf(stage.read_buffer);
  const PathSet paths = PathsTo(state, scope, stage, readers);
  ReadRewriter rewriter(stage, &scope->block(), paths, state.workspace());
  const tir::Stmt* new_scope = rewriter.VisitStmt(scope->stmt);
  state.Replace(scope, new_scope, rewriter.reuse);
  return state.RefOf(stage.block);
}

Ref* InsertWrite(State& state, Ref* scope, Ref* writer, const CopyStage& stage) {
  const PathSet paths = PathsTo(state, scope, stage, {&writer, 1});
  WriteRewriter rewriter(stage, &scope->block(), &writer->block(), paths, state.workspace());
  const tir::Stmt* new_scope = rewriter.VisitStmt(scope->stmt);
  state.Replace(scope, new_scope, rewriter.reuse);
  return state.RefOf(stage.block);
}

namespace {

// The region that the block reads, and the scope of the block, which the copy is made in.
struct CachedRead {
  const tir::BufferRegion* access;
  Ref* scope;
};

Result<CachedRead> RequireCachedRead(State& state, Ref* ref, int64_t index, std::string_view memory) {
  IROPT_RETURN_IF_ERROR(CheckStorageScope(state, memory));
  IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* access, RequireAccess(state, ref, index, /*is_write=*/false));
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state, ref, /*stage_pipeline=*/false));
  IROPT_RETURN_IF_ERROR(CheckOnlyBlocks(state, scope, access->buffer));
  IROPT_RETURN_IF_ERROR(CheckRegionCover(state, scope, access->buffer));
  return CachedRead{access, scope};
}

}  // namespace

Status ApplyCacheRead(PrimitiveCall& call, const args::CacheRead<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* ref = args.block;
  const std::string& memory = args.storage_scope;
  IROPT_ASSIGN_OR_RETURN(const CachedRead read, RequireCachedRead(state, ref, args.read_buffer_index, memory));
  const auto [access, scope] = read;
  const tir::Buffer* buffer = access->buffer;
  CopyStage stage;
  stage.read_buffer = buffer;
  AddConsumers(state, args.consumer_blocks, stage);
  IROPT_ASSIGN_OR_RETURN(Ref * writer, OnlyWriter(state, scope, buffer));
  if (writer) {
    FindLocation(state, writer, scope, /*is_read=*/true, stage);
    stage.region = RelaxRegion(state, writer->block().writes, buffer, writer, stage.location, nullptr);
    IROPT_RETURN_IF_ERROR(CheckInsideBuffer(state, stage));
    IROPT_RETURN_IF_ERROR(CheckWritesAll(state, stage, writer));
  } else {
    stage.location = scope;
    stage.position = 0;
    NestedConditions nested(buffer, /*is_write=*/false, state);
    nested.VisitStmt(ref->block().body);
    const tir::BufferRegion* outer = FindRegion(scope->block().reads, buffer);
    if (nested.condition() && !IsTrue(nested.condition()) && IsOnlyConsumer(state, ref, scope, stage)) {
      stage.region = RelaxRegion(state, ref->block().reads, buffer, ref, scope, nested.condition());
    } else {
      stage.region = outer ? CutToBuffer(state, outer, scope) : FullRegion(buffer, workspace);
    }
    IROPT_RETURN_IF_ERROR(CheckInsideBuffer(state, stage));
  }
  stage.full_region = !HasOwnIndices(state, scope, stage);
  stage.write_buffer = MakeCopyBuffer(state, buffer, memory, stage);
  stage.alloc = stage.write_buffer;
  MakeCopy(stage, memory, /*is_read=*/true, workspace);
  call.Return(InsertRead(state, scope, stage));
  return {};
}

Status ApplyCacheWrite(PrimitiveCall& call, const args::CacheWrite<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* ref = args.block;
  const std::string& memory = args.storage_scope;
  IROPT_RETURN_IF_ERROR(CheckStorageScope(state, memory));
  IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* access,
                         RequireAccess(state, ref, args.write_buffer_index, /*is_write=*/true));
  const tir::Buffer* buffer = access->buffer;
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state, ref, /*stage_pipeline=*/false));
  IROPT_RETURN_IF_ERROR(CheckOnlyBlocks(state, scope, buffer));
  CopyStage stage;
  stage.write_buffer = buffer;
  AddConsumers(state, args.consumer_blocks, stage);
  IROPT_RETURN_IF_ERROR(OnlyWriter(state, scope, buffer));
  IROPT_RETURN_IF_ERROR(CheckReadsOwnValues(state, scope, ref, buffer));
  FindLocation(state, ref, scope, /*is_read=*/false, stage);
  NestedConditions nested(buffer, /*is_write=*/true, state);
  nested.VisitStmt(ref->block().body);
  stage.region = RelaxRegion(state, ref->block().writes, buffer, ref, stage.location, nested.condition());
  IROPT_RETURN_IF_ERROR(CheckInsideBuffer(state, stage));
  IROPT_RETURN_IF_ERROR(CheckWritesAll(state, stage, ref));
  stage.full_region = !HasOwnIndices(state, scope, stage);
  stage.read_buffer = MakeCopyBuffer(state, buffer, memory, stage);
  stage.alloc = stage.read_buffer;
  MakeCopy(stage, memory, /*is_read=*/false, workspace);
  call.Return(InsertWrite(state, scope, ref, stage));
  return {};
}

// ---- In place

namespace {

// The innermost loop around the block, or the scope, and the position of the block in it.
void FindBlockLocation(const Ref* block, Ref* scope, CopyStage& stage) {
  const tir::Stmt* child = block->stmt;
  stage.location = nullptr;
  stage.position = 0;
  for (Ref* ref = block->parent;; child = ref->stmt, ref = ref->parent) {
    if (!stage.location) stage.location = ref;
    if (const auto* seq = As<tir::SeqStmt>(BodyOf(*ref->stmt))) {
      const auto is_child = [&](const tir::Stmt* stmt) {
        const auto* realize = As<tir::BlockRealize>(stmt);
        return stmt == child || (realize && realize->block == child);
      };
      if (ref == stage.location)
        stage.position = static_cast<int>(std::ranges::find_if(seq->seq, is_child) - seq->seq.begin());
    }
    if (ref == scope || ref->is_block()) return;
  }
}

// The first copy reads the elements.
Status CheckHasValues(State& state, Ref* ref, const tir::Buffer* buffer) {
  const DefiningSite allocation = FindDefiningSite(ref, buffer);
  if (!allocation.is_allocated) return {};
  for (Ref* block = ref; block != allocation.site;) {
    Ref* scope = state.ScopeOf(block);
    if (std::ranges::any_of(state.ScopeInfo(scope).WritersOf(buffer),
                            [&](const Ref* writer) { return writer != block; }))
      return {};
    block = scope;
  }
  return state.Refuse(fmt::format("no block but {{0}} writes {}, which has no values to copy before it", buffer->name),
                      {ref->stmt});
}

}  // namespace

Status ApplyCacheInplace(PrimitiveCall& call, const args::CacheInplace<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* ref = args.block;
  const std::string& memory = args.storage_scope;
  IROPT_ASSIGN_OR_RETURN(const CachedRead read, RequireCachedRead(state, ref, args.read_buffer_index, memory));
  const auto [access, scope] = read;
  const tir::Buffer* buffer = access->buffer;
  const tir::BufferRegion* written = FindRegion(ref->block().writes, buffer);
  if (!written)
    return state.Refuse(fmt::format("the block {{0}} does not read and write {}", buffer->name), {ref->stmt});
  for (const tir::BufferRegion* region : {access, written})
    IROPT_RETURN_IF_ERROR(CheckWithoutAxes(state, ref->block(), *region));
  IROPT_RETURN_IF_ERROR(CheckHasValues(state, ref, buffer));
  const tir::Buffer* copy =
      CopyBuffer(*buffer, {.name = fmt::format("{}_{}", buffer->name, memory), .scope = memory}, workspace);
  CopyStage stage;
  stage.read_buffer = buffer;
  stage.write_buffer = copy;
  stage.alloc = copy;
  stage.region = CutToBuffer(state, access, ref);
  stage.consumers.insert(ref->stmt);
  FindBlockLocation(ref, scope, stage);
  MakeCopy(stage, memory, /*is_read=*/true, workspace);
  call.Return(InsertRead(state, scope, stage));
  stage.read_buffer = copy;
  stage.write_buffer = buffer;
  stage.alloc = nullptr;
  stage.region = CutToBuffer(state, written, ref);
  stage.consumers.clear();
  FindBlockLocation(ref, scope, stage);
  stage.position += 1;
  MakeCopy(stage, memory, /*is_read=*/false, workspace);
  call.Return(InsertWrite(state, scope, ref, stage));
  return {};
}

}  // namespace iropt::schedule
