#include "gemv.h"

#include <algorithm>

#include "schedule/stmt_tools.h"
#include "target_facts.h"

namespace iropt::schedule {

std::vector<const tir::Buffer*> FindVectors(RuleSchedule& sch, const BlockInfo& info) {
  const tir::Block& block = sch.Block(info.block);
  if (!info.is_reduction || block.reads.size() < 2 || block.writes.size() != 1 || !ReductionExprOf(block)) return {};
  const auto written = AxesOfAccess(block, *block.writes[0]);
  if (!written) sch.Fail();
  if (!written || written->empty()) return {};
  std::vector<const tir::Buffer*> vectors;
  for (const tir::BufferRegion* read : block.reads) {
    const auto axes = AxesOfAccess(block, *read);
    if (!axes) {
      sch.Fail();
      return {};
    }
    if (!axes->empty() && axes->size() < block.iter_vars.size()) vectors.push_back(read->buffer);
  }
  return vectors.size() < block.reads.size() ? vectors : std::vector<const tir::Buffer*>();
}

std::optional<int64_t> BytesOf(const std::vector<const tir::Buffer*>& buffers) {
  int64_t size = 0;
  for (const tir::Buffer* buffer : buffers) {
    int64_t bytes = BytesOf(buffer->dtype);
    for (const PrimExpr* dim : buffer->shape) {
      const auto extent = ConstExtent(dim);
      if (!extent) return std::nullopt;
      bytes *= *extent;
    }
    size += bytes;
  }
  return size;
}

Name ShareVector(RuleSchedule& sch, const Name& block, const Name& thread_loop, const SharedVectorTiling& tiling) {
  Name vector = sch.CacheRead({block, 0, "shared"});
  sch.ComputeAt({.block = vector, .loop = thread_loop, .preserve_unit_loops = true});
  const Name loop = sch.GetLoops(vector, 1).back();
  if (!sch.ok()) return vector;
  const int64_t threads = tiling.spatial * tiling.reduction;
  int64_t lanes = tiling.lanes;
  if (const auto extent = ConstExtent(sch.Loop(loop).extent)) {
    const int64_t factor = MaxFactor(*extent, {threads, threads * 2, threads * 4, threads * 8});
    lanes = std::max<int64_t>(std::min(factor / threads, lanes), 1);
  }
  const bool x_reduces = tiling.reduction_tag == "threadIdx.x";
  const Names parts = sch.Split({loop,
                                 {std::nullopt, x_reduces ? tiling.spatial : tiling.reduction,
                                  x_reduces ? tiling.reduction : tiling.spatial, lanes}});
  sch.Bind({parts[1], "threadIdx.y"});
  sch.Bind({parts[2], "threadIdx.x"});
  sch.Vectorize({parts[3]});
  return vector;
}

std::optional<bool> NormalizeGemv(RuleSchedule& sch, const BlockInfo& info) {
  const tir::Block& block = sch.Block(info.block);
  const auto access = FindDominantAccess(sch, info);
  if (!access || access->terms.empty()) return std::nullopt;
  const auto is_axis = [&](const tir::Var* var) {
    return std::ranges::any_of(block.iter_vars, [&](const tir::IterVar* axis) { return axis->var == var; });
  };
  if (tir::UsesVar(access->base, is_axis)) return std::nullopt;
  std::vector<AxisSet> uses;
  for (const auto* regions : {&block.writes, &block.reads}) {
    for (const tir::BufferRegion* region : *regions) {
      auto axes = AxesOfAccess(block, *region);
      if (!axes) return std::nullopt;
      uses.push_back(*std::move(axes));
    }
  }
  Names batch, spatial, reduction, group;
  bool is_inner = false;
  for (const DominantAccess::Term& term : access->terms) {
    const auto axis = std::ranges::find_if(
        info.axes, [&](const AxisInfo& candidate) { return term.axis && candidate.var == term.axis; });
    if (axis == info.axes.end()) return std::nullopt;
    is_inner = axis->kind == AxisKind::kReduction;
    Name loop = axis->loop;
    if (term.lower_factor > 1) {
      if (!group.empty() || !is_inner) return std::nullopt;
      const Names parts = sch.Split({loop, {std::nullopt, term.lower_factor}});
      loop = parts[0];
      group.push_back(parts[1]);
    }
    const bool is_batch = std::ranges::all_of(uses, [&](const AxisSet& axes) { return axes.contains(term.axis); });
    (is_inner ? reduction : is_batch ? batch : spatial).push_back(loop);
  }
  if (spatial.empty() || reduction.empty()) {
    sch.Fail();
    return std::nullopt;
  }
  if (group.empty()) group.push_back(sch.AddUnitLoop({info.block}));
  if (batch.empty()) batch.push_back(sch.AddUnitLoop({info.block}));
  Names order;
  for (const Names* loops : {&batch, &spatial, &reduction, &group})
    order.insert(order.end(), loops->begin(), loops->end());
  sch.Reorder({order});
  sch.Fuse({batch});
  sch.Fuse({spatial});
  sch.Fuse({reduction});
  return sch.ok() ? std::optional(is_inner) : std::nullopt;
}

void AutoVectorize(RuleSchedule& sch, const Name& loop, int64_t lanes) {
  if (!sch.ok()) return;
  const auto extent = ConstExtent(sch.Loop(loop).extent);
  if (extent) sch.Vectorize({*extent <= lanes ? loop : sch.Split({loop, {std::nullopt, lanes}})[1]});
}

void LimitThreads(const TargetFacts& facts, int64_t& spatial, int64_t& reduction) {
  while (spatial * reduction > facts.max_num_threads) (spatial > 1 ? spatial : reduction) /= 2;
}

void FinishParts(RuleSchedule& sch, const Name& lanes, const Name& threads, size_t depth, int64_t unroll) {
  sch.DecomposeReduction({lanes, sch.GetLoops(lanes, depth)[depth - 1]});
  sch.DecomposeReduction({threads, sch.GetLoops(threads, 1).back()});
  for (const Name& block : {lanes, threads}) sch.SetScope({block, 0, "local"});
  for (const Name& block : {lanes, threads}) {
    sch.Annotate({sch.GetLoops(block, depth)[depth - 1], attr::kPragmaAutoUnrollMaxStep, unroll});
    sch.Annotate({sch.GetLoops(block, depth)[depth - 1], attr::kPragmaUnrollExplicit, 1});
  }
}

void UnrollShared(RuleSchedule& sch, const Name& copy, int64_t unroll) {
  const auto outermost = [&] {
    const Names loops = sch.GetLoops(copy, 4);
    return loops[loops.size() - 4];
  };
  sch.Annotate({outermost(), attr::kPragmaUnrollExplicit, unroll});
  sch.Annotate({outermost(), attr::kPragmaVectorize, 1});
}

int64_t MaxFactor(int64_t n, std::vector<int64_t> factors) {
  std::ranges::sort(factors, std::greater<>());
  for (const int64_t factor : factors) {
    if (n % factor == 0) return factor;
  }
  return 1;
}

}  // namespace iropt::schedule
