#include "checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/support/lookup.h"
#include "region_tools.h"
#include "stmt_tools.h"

namespace iropt::schedule {

namespace {

constexpr std::string_view kCompleteBlock =
    "a complete block\n1) has data parallel axes only,\n2) is the only writer of what it writes, before all "
    "readers,\n3) does not read what it writes";
constexpr std::string_view kReductionBlock =
    "a reduction block\n1) has an initialization,\n2) has affine bindings,\n3) has data parallel axes and those of a "
    "reduction only,\n4) is the only writer of what it writes, before all readers,\n5) does not write at indices with "
    "axes of the reduction";

// Returns whether the block is the only writer of its outputs under the root.
bool IsDominant(State& state, const Ref* block, Ref* root) {
  const auto single_in = [&](const BlockScope& scope) {
    return std::ranges::all_of(block->block().writes, [&](const tir::BufferRegion* write) {
      return scope.WritersOf(write->buffer).size() <= 1;
    });
  };
  if (root->is_block()) return single_in(state.ScopeInfo(root));
  // The first one of the children of the loop that has writers of a buffer in it counts.
  LookupSet<const tir::Buffer*> seen;
  for (Ref* child : state.ChildrenOf(root)) {
    const BlockScope& scope = state.ScopeInfo(child);
    for (const tir::BufferRegion* write : block->block().writes) {
      const size_t writers = scope.WritersOf(write->buffer).size();
      if (writers != 0 && seen.insert(write->buffer) && writers != 1) return false;
    }
  }
  return true;
}

// Looks for a store at an index that uses a reduction axis.
class ReductionIndexFinder : public tir::StmtExprVisitor {
 public:
  explicit ReductionIndexFinder(const tir::Block& block) {
    for (const tir::IterVar* axis : block.iter_vars) {
      if (axis->iter_type == tir::IterVarType::kCommReduce) axes_.insert(axis->var);
    }
  }
  bool found = false;

  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitBufferStore(const tir::BufferStore* store) override {
    for (const PrimExpr* index : store->indices) found = found || tir::UsesAnyOf(axes_, index);
  }

 private:
  LookupSet<const tir::Var*> axes_;
};

// Counts which of two sets of blocks are in statements.
class BlockCounter : public StmtWalker {
 public:
  BlockCounter(std::span<Ref* const> producers, std::span<Ref* const> consumers) {
    for (const Ref* ref : producers) producers_.insert(ref->stmt);
    for (const Ref* ref : consumers) consumers_.insert(ref->stmt);
  }
  int num_producers = 0;
  int num_consumers = 0;

 protected:
  void VisitBlock(const tir::Block* block) override {
    num_producers += producers_.contains(block) ? 1 : 0;
    num_consumers += consumers_.contains(block) ? 1 : 0;
  }

 private:
  LookupSet<const tir::Stmt*> producers_, consumers_;
};

class BlocksInLoopsFinder : public StmtWalker {
 public:
  BlocksInLoopsFinder(arith::IterRanges around, Workspace& workspace) : workspace_(workspace) {
    result.loops = std::move(around);
  }
  BlocksInLoops result;

 protected:
  void VisitFor(const tir::For* loop) override {
    result.loops.insert_or_assign(loop->loop_var, tir::Range(loop->min, loop->extent));
    StmtWalker::VisitFor(loop);
  }
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Block& block = *realize->block;
    const auto is_own = [&](const tir::BufferRegion* write) { return own_buffers_.contains(write->buffer); };
    BlockInLoops item{realize,
                      {},
                      tir::Substitute(realize->predicate, axes_, workspace_),
                      std::ranges::all_of(block.writes, is_own),
                      values_around_};
    for (size_t i = 0; i < realize->iter_values.size(); ++i) {
      item.values.push_back(tir::Substitute(realize->iter_values[i], axes_, workspace_));
      axes_[block.iter_vars[i]->var] = item.values.back();
    }
    const size_t num_around = values_around_.size();
    values_around_.insert(values_around_.end(), item.values.begin(), item.values.end());
    result.found.push_back(std::move(item));
    for (const tir::Buffer* buffer : block.alloc_buffers) own_buffers_.insert(buffer);
    StmtWalker::VisitBlockRealize(realize);
    values_around_.resize(num_around);
  }

 private:
  Workspace& workspace_;
  tir::VarValues axes_;
  std::vector<const PrimExpr*> values_around_;
  LookupSet<const tir::Buffer*> own_buffers_;
};

// Accesses to memory by statements that are not in a block.
class BareAccessFinder : public tir::StmtExprVisitor {
 public:
  explicit BareAccessFinder(const tir::Var* data) : data_(data) {}
  bool found = false;

 protected:
  void VisitBlock(const tir::Block*) override {}
  void VisitBufferUse(const tir::Buffer* buffer) override { found = found || buffer->data == data_; }
  void VisitVar(const tir::Var* var) override { found = found || var == data_; }

 private:
  const tir::Var* data_;
};

}  // namespace

Status CheckOnlyBlocks(State& state, Ref* scope, const tir::Buffer* buffer) {
  if (state.HasOnlyBlocks(scope)) return {};
  if (buffer) {
    BareAccessFinder finder(buffer->data);
    finder.VisitStmt(scope->block().body);
    if (!finder.found) return {};
  }
  return state.Refuse("the scope {0} has statements that are not in a block, so that its dependences are not known",
                      {scope->stmt});
}

Result<Ref*> RequireScope(State& state, const Ref* ref, bool stage_pipeline) {
  Ref* scope = state.ScopeOf(ref);
  if (!scope) return state.Refuse("the primitive does not operate on the root block");
  if (stage_pipeline && !state.IsStagePipeline(scope))
    return state.Refuse(
        "the scope {0} is not a stage pipeline: expected each block in it to read only what blocks before it have "
        "written, and to write nothing that one before it reads",
        {scope->stmt});
  if (stage_pipeline) IROPT_RETURN_IF_ERROR(CheckOnlyBlocks(state, scope));
  return scope;
}

int CompleteBlockError(State& state, const Ref* ref, Ref* root) {
  const tir::Block& block = ref->block();
  if (!IsSpatial(block)) return 1;
  if (!IsDominant(state, ref, root)) return 2;
  const auto is_written = [&](const tir::BufferRegion* read) { return UsesBuffer(block.writes, read->buffer); };
  return std::ranges::any_of(block.reads, is_written) ? 3 : 0;
}

int ReductionBlockError(State& state, const Ref* ref, Ref* root) {
  const tir::Block& block = ref->block();
  if (!block.init) return 1;
  if (!state.IsAffine(ref)) return 2;
  if (!HasOnlySpatialAndReductionAxes(block)) return 3;
  if (!IsDominant(state, ref, root)) return 4;
  ReductionIndexFinder finder(block);
  finder.VisitStmt(block.body);
  return finder.found ? 5 : 0;
}

Status CheckCompleteBlock(State& state, const Ref* block, Ref* root) {
  const int error = CompleteBlockError(state, block, root);
  if (error == 0) return {};
  return state.Refuse(
      fmt::format("the block {{0}} is not complete: condition {} does not hold; {}", error, kCompleteBlock),
      {block->stmt});
}

Status CheckReductionBlock(State& state, const Ref* block, Ref* root) {
  const int error = ReductionBlockError(state, block, root);
  if (error == 0) return {};
  return state.Refuse(
      fmt::format("the block {{0}} is not a reduction: condition {} does not hold; {}", error, kReductionBlock),
      {block->stmt});
}

Status CheckCompleteOrReductionBlock(State& state, const Ref* block, Ref* root) {
  const int complete = CompleteBlockError(state, block, root);
  if (complete == 0) return {};
  const int reduction = ReductionBlockError(state, block, root);
  if (reduction == 0) return {};
  return state.Refuse(fmt::format("the block {{0}} is neither complete nor a reduction: condition {} does not hold; "
                                  "{},\nand condition {} does not hold; {}",
                                  complete, kCompleteBlock, reduction, kReductionBlock),
                      {block->stmt});
}

Status CheckCompactDataflow(State& state, Ref* subtree) {
  for (const Ref* block : state.ChildrenOf(subtree)) {
    const int complete = CompleteBlockError(state, block, subtree);
    if (complete == 0) continue;
    const int reduction = ReductionBlockError(state, block, subtree);
    if (reduction == 0) continue;
    return state.Refuse(fmt::format("the block {{1}} under {{0}} is neither complete nor a reduction there: condition "
                                    "{} does not hold; {},\nand condition {} does not hold; {}",
                                    complete, kCompleteBlock, reduction, kReductionBlock),
                        {subtree->stmt, block->stmt});
  }
  return {};
}

bool IsOutputBlock(const Ref* block, const Ref* scope) {
  const List<const tir::Buffer*> allocated = scope->block().alloc_buffers;
  return std::ranges::any_of(block->block().writes, [&](const tir::BufferRegion* write) {
    return std::ranges::find(allocated, write->buffer) == allocated.end();
  });
}

Status CheckNotOutputBlock(State& state, const Ref* block, const Ref* scope) {
  if (!IsOutputBlock(block, scope)) return {};
  return state.Refuse("the block {0} is an output block", {block->stmt});
}

Status CheckUsesOnlyAxes(State& state, const Ref* block) {
  LookupMap<const tir::Var*, const tir::Stmt*> around;
  for (const Ref* loop = block->parent; loop && loop->is_loop(); loop = loop->parent)
    around.insert_or_assign(loop->loop().loop_var, loop->stmt);
  const tir::Stmt* used = nullptr;
  tir::PostOrderVisit(block->stmt, [&](const Node* node) {
    const auto* var = As<tir::Var>(node);
    if (const auto* loop = var ? around.Find(var) : nullptr) used = *loop;
  });
  if (!used) return {};
  return state.Refuse("the block {0} uses the loop {1} in its body: expected it to be the value of an axis",
                      {block->stmt, used});
}

bool HasOwnMemory(State& state, Ref* block, const Ref* loop, std::string_view thread) {
  const Ref* scope = state.ScopeOf(block);
  const auto is_under = [&](const Ref* consumer) {
    while (consumer && consumer != loop) consumer = consumer->parent;
    return consumer != nullptr;
  };
  const bool is_only_read_there =
      scope && !IsOutputBlock(block, scope) &&
      std::ranges::all_of(state.ScopeInfo(state.ScopeOf(block)).ConsumersOf(block), is_under);
  return std::ranges::all_of(block->block().writes, [&](const tir::BufferRegion* write) {
    const StorageScope memory = StorageScope::Of(write->buffer->scope());
    return thread.empty() ? is_only_read_there : !IsSharedBy(memory, ThreadTag::Of(thread));
  });
}

bool IsSpatial(const tir::Block& block) {
  return std::ranges::all_of(block.iter_vars,
                             [](const tir::IterVar* axis) { return axis->iter_type == tir::IterVarType::kDataPar; });
}

bool MayRunAtOnce(const tir::Block& block) {
  return std::ranges::all_of(BlocksOf(&block), [](const tir::Block* part) {
    const auto is_written = [&](const tir::BufferRegion* read) { return UsesBuffer(part->writes, read->buffer); };
    return !part->init && IsSpatial(*part) && std::ranges::none_of(part->reads, is_written);
  });
}

bool HasOnlySpatialAndReductionAxes(const tir::Block& block) {
  return std::ranges::all_of(block.iter_vars, [](const tir::IterVar* axis) {
    return axis->iter_type == tir::IterVarType::kDataPar || axis->iter_type == tir::IterVarType::kCommReduce;
  });
}

Status CheckAffineBinding(State& state, const Ref* block, const Ref* high) {
  if (state.IsAffine(block)) return {};
  if (!high) return state.Refuse("the block {0} is required to have an affine binding", {block->stmt});
  if (block->parent) {
    arith::Analyzer analyzer(state.make(), arith::Analyzer::SymVars::kAny);
    if (IsAffineBinding(*state.RealizeOf(block), LoopDomain(block->parent, high), analyzer)) return {};
  }
  if (!high->is_loop()) return state.Refuse("the block {0} is required to have an affine binding", {block->stmt});
  return state.Refuse("the block {0} is required to have a partial affine binding under {1}",
                      {block->stmt, high->stmt});
}

BlocksInLoops FindBlocksInLoops(const tir::Stmt* stmt, arith::IterRanges around, Workspace& workspace) {
  BlocksInLoopsFinder finder(std::move(around), workspace);
  finder.VisitStmt(stmt);
  return std::move(finder.result);
}

bool RunsOnceIn(State& state, const Ref* ref, const BlockInLoops& block, const BlocksInLoops& blocks) {
  const tir::For& loop = ref->loop();
  if (arith::IsInt(loop.extent, 1)) return true;
  if (IsTrue(block.condition)) return false;
  // In no iteration after the first one, a part of the condition holds.
  const arith::PrimBuilder make = state.make();
  arith::Analyzer analyzer(make, arith::Analyzer::SymVars::kAny);
  BindLoopsAround(ref->parent, analyzer);
  blocks.loops.ForEachInAnyOrder([&](const tir::Var* var, const tir::Range& range) {
    if (var != loop.loop_var) analyzer.Bind(var, range.min, range.extent);
  });
  const PrimExpr* one = make.Const(1, loop.extent->dtype);
  analyzer.Bind(loop.loop_var, make.Add(loop.min, one), make.Sub(loop.extent, one));
  for (const PrimExpr* rest = block.condition; rest;) {
    const auto* both = As<tir::And>(rest);
    if (analyzer.CanProve(make.Not(both ? both->b : rest))) return true;
    rest = both ? both->a : nullptr;
  }
  return false;
}

bool DetermineLoops(State& state, std::span<const PrimExpr* const> values, const arith::IterRanges& loops,
                    const PrimExpr* condition) {
  arith::IterRanges used;
  for (const PrimExpr* value : values) {
    for (const tir::Var* var : VarsOf(value)) {
      const tir::Range* range = loops.Find(var);
      if (range) used.insert_or_assign(var, *range);
    }
  }
  if (used.empty()) return true;
  if (!arith::AreIndependentRanges(used)) return false;
  arith::Analyzer analyzer(state.make(), arith::Analyzer::SymVars::kAny);
  const auto is_bijective = [&](const PrimExpr* where) {
    return arith::DetectIterMap(values, used, where, {.level = arith::IterMapLevel::kBijective}, analyzer).has_value();
  };
  return is_bijective(nullptr) || (!IsTrue(condition) && is_bijective(analyzer.Simplify(condition)));
}

bool DetermineInnerLoops(State& state, std::span<const PrimExpr* const> concerned,
                         std::span<const PrimExpr* const> values, const arith::IterRanges& inner, const Ref* outer,
                         const PrimExpr* condition) {
  if (DetermineLoops(state, concerned, inner, condition)) return true;
  arith::IterRanges all = inner;
  for (const Ref* ref = outer; ref && ref->is_loop(); ref = ref->parent)
    all.insert_or_assign(ref->loop().loop_var, tir::Range(ref->loop().min, ref->loop().extent));
  return DetermineLoops(state, values, all, condition);
}

bool IsTrivialBinding(State& state, const Ref* block) {
  const std::vector<Ref*> loops = state.LoopsOf(block);
  const List<const PrimExpr*> values = state.RealizeOf(block)->iter_values;
  return std::ranges::equal(loops, values,
                            [](const Ref* loop, const PrimExpr* value) { return loop->loop().loop_var == value; });
}

Status CheckTrivialBinding(State& state, const Ref* block) {
  if (IsTrivialBinding(state, block)) return {};
  return state.Refuse("the binding values of the {0} are not variables of outer loops", {block->stmt});
}

bool IsVectorAccess(List<const PrimExpr*> indices) {
  return std::ranges::any_of(indices, [](const PrimExpr* index) { return index->dtype.lanes != 1; });
}

Status CheckStartsWithZero(State& state, const Ref* loop, arith::Analyzer& analyzer) {
  const PrimExpr* min = loop->loop().min;
  const arith::PrimBuilder& make = analyzer.make();
  if (analyzer.CanProve(make.Binary(NodeKind::kEQ, min, make.Const(0, min->dtype))) && !loop->loop().step) return {};
  return state.Refuse("the loop {0} does not start with 0, which is not supported", {loop->stmt});
}

Status CheckPlainLoop(State& state, const Ref* loop) {
  if (loop->loop().annotations->size() == 0 && !loop->loop().thread_binding) return {};
  return state.Refuse("the loop {0} has annotations or is bound to a thread: expected neither", {loop->stmt});
}

Result<const tir::BlockRealize*> RequireSingleChild(State& state, const Ref* ref) {
  const auto children = ChildRealizes(*ref->stmt);
  if (children.size() == 1) return children[0];
  return state.Refuse(
      fmt::format("the {} {{0}} has no block or several ones in it: expected one", KindWord(*ref->stmt)), {ref->stmt});
}

Result<const tir::BufferRegion*> RequireAccess(State& state, const Ref* block, int64_t index, bool is_write) {
  const List<const tir::BufferRegion*> regions = is_write ? block->block().writes : block->block().reads;
  if (index >= 0 && index < regions.size()) return regions[static_cast<size_t>(index)];
  return state.Refuse(fmt::format("invalid `buffer_index` {2}: the block {{0}} has {0} {1} regions", regions.size(),
                                  is_write ? "write" : "read", index),
                      {block->stmt});
}

DefiningSite FindDefiningSite(Ref* ref, const tir::Buffer* buffer) {
  for (; ref; ref = ref->parent) {
    if (!ref->is_block()) continue;
    if (std::ranges::find(ref->block().alloc_buffers, buffer) != ref->block().alloc_buffers.end()) return {ref, true};
    for (const tir::MatchBufferRegion* match : ref->block().match_buffers) {
      if (match->buffer == buffer) return {ref, false};
    }
  }
  return {};
}

Status CheckWithoutAxes(State& state, const tir::Block& block, const tir::BufferRegion& region) {
  const auto is_axis = [&](const tir::Var* var) {
    return std::ranges::find(block.iter_vars, var, &tir::IterVar::var) != block.iter_vars.end();
  };
  for (const tir::Range* range : region.region) {
    if (tir::UsesVar(range->min, is_axis) || tir::UsesVar(range->extent, is_axis))
      return state.Refuse(fmt::format("what the block {{0}} accesses of {} depends on its axes", region.buffer->name),
                          {&block});
  }
  return {};
}

Status CheckStorageScope(State& state, std::string_view scope) {
  const StorageScope parsed = StorageScope::Of(scope);
  constexpr std::string_view kOthers[] = {"wmma.matrix_a",   "wmma.matrix_b",   "wmma.accumulator",
                                          "texture",         "amx.tmm",         "m16n8k8.matrixA",
                                          "m16n8k8.matrixB", "m16n8k8.matrixC", "metal.simdgroup"};
  const auto starts = [&](std::string_view prefix) { return scope.starts_with(prefix); };
  if (parsed.rank != StorageRank::kOther || std::ranges::any_of(kOthers, starts)) return {};
  return state.Refuse(fmt::format("unknown storage scope '{}'", scope));
}

Result<ProducerConsumerSplit> SplitByDependences(State& state, std::span<const tir::Stmt* const> statements,
                                                 std::span<Ref* const> producers, std::span<Ref* const> consumers) {
  BlockCounter counter(producers, consumers);
  const int count = static_cast<int>(statements.size());
  ProducerConsumerSplit split{.first_consumer = count};
  for (int i = 0; i < count; ++i) {
    const int producers_before = counter.num_producers;
    const int consumers_before = counter.num_consumers;
    counter.VisitStmt(statements[static_cast<size_t>(i)]);
    if (counter.num_producers != producers_before) split.last_producer = i;
    if (counter.num_consumers != consumers_before && split.first_consumer == count) split.first_consumer = i;
  }
  if (split.last_producer >= split.first_consumer)
    return state.Refuse(
        fmt::format("the block has no place after its producers and before its consumers: the last producer is in "
                    "statement {}, the first consumer in statement {}",
                    split.last_producer, split.first_consumer));
  split.producers_visited = counter.num_producers;
  split.consumers_visited = counter.num_consumers;
  return split;
}

}  // namespace iropt::schedule
