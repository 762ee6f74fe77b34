// gpu.Reduction: a sum over some axes of a tensor, which the threads of a block share.
#include <algorithm>

#include "block_info.h"
#include "rule_list.h"
#include "target_facts.h"

namespace iropt::schedule {

namespace {

// The loops of the reduction in normal form: spatial, reduction, and a part of one of them that is next in memory.
struct ReductionLoops {
  bool is_inner = false;         // the fastest axis is one of the reduction
  std::optional<int64_t> group;  // of the split spatial axis
  std::vector<size_t> order;     // which loop a spatial axis is bound to
  size_t split_index = 0;        // of the split axis in it
};

class GpuReduction {
 public:
  GpuReduction(RuleSchedule& sch, const TargetFacts& target, const BlockInfo& info, const BlockInfo* epilogue)
      : sch_(sch), target_(target), info_(info), block_(info.block), epilogue_(epilogue) {}

  bool Apply(const DominantAccess& access) {
    if (!Normalize(access)) return false;
    if (loops_.is_inner)
      ScheduleInnerReduction();
    else
      ScheduleInnerSpatial();
    return sch_.ok();
  }

 private:
  bool Normalize(const DominantAccess& access) {
    if (!arith::IsInt(access.base, 0)) return false;
    std::vector<const AxisInfo*> rest;
    for (const AxisInfo& axis : info_.axes) rest.push_back(&axis);
    Names spatial, reduction, group;
    std::optional<Name> split_loop;
    for (const DominantAccess::Term& term : access.terms) {
      const auto found =
          std::ranges::find_if(rest, [&](const AxisInfo* axis) { return term.axis && axis->var == term.axis; });
      if (found == rest.end()) return sch_.Fail();
      const AxisInfo& axis = **found;
      rest.erase(found);
      Name loop = axis.loop;
      loops_.is_inner = axis.kind == AxisKind::kReduction;
      if (term.lower_factor > 1) {
        if (!group.empty()) return false;
        split_loop = loop;
        loops_.split_index = spatial.size();
        const Names parts = sch_.Split({loop, {std::nullopt, term.lower_factor}});
        loop = parts[0];
        group.push_back(parts[1]);
        if (!loops_.is_inner) loops_.group = term.lower_factor;
      }
      (loops_.is_inner ? reduction : spatial).push_back(loop);
    }
    for (const AxisInfo* axis : rest) {
      if (axis->kind != AxisKind::kSpatial || !arith::IsInt(axis->extent, 1)) return false;
      spatial.push_back(axis->loop);
    }
    FindOrder(spatial, split_loop);
    const auto is_spatial = [](const AxisInfo& axis) { return axis.kind == AxisKind::kSpatial; };
    if (spatial.empty() || reduction.empty()) return sch_.Fail();
    if (static_cast<std::ptrdiff_t>(spatial.size()) != std::ranges::count_if(info_.axes, is_spatial)) return false;
    if (group.empty()) group.push_back(sch_.AddUnitLoop({block_}));
    Names order = spatial;
    order.insert(order.end(), reduction.begin(), reduction.end());
    order.insert(order.end(), group.begin(), group.end());
    sch_.Reorder({order});
    sch_.Fuse({spatial});
    sch_.Fuse({reduction});
    return sch_.ok();
  }

  void FindOrder(const Names& spatial, const std::optional<Name>& split_loop) {
    for (const AxisInfo& axis : info_.axes) {
      const auto found = std::ranges::find(spatial, axis.loop);
      if (found != spatial.end())
        loops_.order.push_back(static_cast<size_t>(found - spatial.begin()));
      else if (axis.loop == split_loop)
        loops_.order.push_back(loops_.split_index);
    }
  }

  // The loops from the third one on of the block that combines the parts, fused; and, if an axis was split, its part.
  struct Combined {
    Name spatial;
    std::optional<Name> group;
  };
  Combined FuseCombined(const Names& loops) {
    Names spatial(loops.begin() + 2, loops.end());
    if (!loops_.group) return {sch_.Fuse({spatial}), std::nullopt};
    Names order;
    if (loops_.order.size() != spatial.size()) sch_.Fail();
    for (size_t i = 0; i < spatial.size() && i < loops_.order.size() && loops_.order[i] < spatial.size(); ++i)
      order.push_back(spatial[loops_.order[i]]);
    if (!sch_.ok() || order.size() != spatial.size() || loops_.split_index >= order.size()) {
      sch_.Fail();
      return {};
    }
    sch_.Reorder({order});
    const Names parts = sch_.Split({order[loops_.split_index], {std::nullopt, *loops_.group}});
    order[loops_.split_index] = parts[0];
    Names with_group = order;
    with_group.push_back(parts[1]);
    sch_.Reorder({with_group});
    return {sch_.Fuse({order}), parts[1]};
  }

  void ScheduleInnerReduction() {
    const Names loops = sch_.GetLoops(block_, 3);
    if (!sch_.ok()) return;
    const int64_t threads = SuggestThreadsPerBlock(target_, {&sch_.Loop(loops[1])})[0];
    const Name part = sch_.Split({loops[1], {std::nullopt, threads}})[1];
    const Name rf = sch_.RFactor({part, 0});
    const Names own = sch_.GetLoops(rf, 4);
    const Name &bx = own[0], &r = own[1], &tx = own[2];
    sch_.Reorder({{bx, tx, r}});
    sch_.Bind({bx, "blockIdx.x"});
    sch_.Bind({tx, "threadIdx.x"});
    sch_.Annotate({tx, attr::kPragmaAutoUnrollMaxStep, 256});
    sch_.Annotate({tx, attr::kPragmaUnrollExplicit, 1});
    sch_.SetScope({rf, 0, "local"});
    sch_.DecomposeReduction({rf, r});
    sch_.ReverseComputeAt({.block = block_, .loop = bx, .preserve_unit_loops = true});
    const Names combining = sch_.GetLoops(block_, 3);
    const Combined combined = FuseCombined(combining);
    if (combined.group)
      sch_.Reorder({{combined.spatial, combining[1], *combined.group}});
    else
      sch_.Reorder({{combined.spatial, combining[1]}});
    sch_.Bind({combining[1], "threadIdx.x"});
    if (!epilogue_) return;
    sch_.ReverseComputeAt({.block = epilogue_->block, .loop = bx, .preserve_unit_loops = true});
    if (!sch_.ok()) return;
    if (!IsBroadcastEpilogue(sch_, block_, epilogue_->block)) return sch_.SetScope({block_, 0, "local"});
    sch_.SetScope({block_, 0, "shared"});
    const Names last = sch_.GetLoops(epilogue_->block, 2);
    sch_.Bind({sch_.Split({sch_.Fuse({{last.begin() + 1, last.end()}}), {std::nullopt, threads}})[1], "threadIdx.x"});
  }

  void ScheduleInnerSpatial() {
    constexpr int64_t kThreads = 16;
    const Names loops = sch_.GetLoops(block_, 3);
    const int64_t threads = SpatialThreads(kThreads);
    sch_.Split({loops[0], {std::nullopt, threads}});
    const Name part = sch_.Split({loops[1], {std::nullopt, kThreads}})[1];
    const Name rf = sch_.RFactor({part, 0});
    const Names own = sch_.GetLoops(rf, 5);
    const Name &bx = own[0], &tx = own[1], &r = own[2], &ty = own[3];
    sch_.Reorder({{bx, tx, ty, r}});
    sch_.Bind({tx, "threadIdx.x"});
    sch_.Bind({ty, "threadIdx.y"});
    sch_.Bind({bx, "blockIdx.x"});
    sch_.SetScope({rf, 0, "local"});
    sch_.DecomposeReduction({rf, r});
    sch_.ReverseComputeAt({.block = block_, .loop = bx, .preserve_unit_loops = true});
    const Names combining = sch_.GetLoops(block_, 3);
    const Combined combined = FuseCombined(combining);
    if (combined.group)
      sch_.Reorder({{combined.spatial, *combined.group, combining[1]}});
    else
      sch_.Reorder({{combined.spatial, combining[1]}});
    sch_.Bind({combined.spatial, "threadIdx.x"});
    sch_.Bind({combining[1], "threadIdx.y"});
    if (!epilogue_) return;
    sch_.ReverseComputeAt({.block = epilogue_->block, .loop = bx, .preserve_unit_loops = true});
    if (!sch_.ok()) return;
    const bool broadcasts = IsBroadcastEpilogue(sch_, block_, epilogue_->block);
    sch_.SetScope({block_, 0, broadcasts ? "shared" : "local"});
    const Names last = sch_.GetLoops(epilogue_->block, 2);
    const Name fused = sch_.Fuse({{last.begin() + 1, last.end()}});
    if (!broadcasts) return sch_.Bind({sch_.Split({fused, {threads, std::nullopt}})[0], "threadIdx.x"});
    const Names parts = sch_.Split({fused, {std::nullopt, threads, kThreads}});
    sch_.Bind({parts[1], "threadIdx.x"});
    sch_.Bind({parts[2], "threadIdx.y"});
  }

  // A divisor of the last spatial extent.
  int64_t SpatialThreads(int64_t limit) {
    std::optional<int64_t> extent;
    for (const AxisInfo& axis : info_.axes) {
      if (axis.kind == AxisKind::kSpatial) extent = ConstExtent(axis.extent);
    }
    int64_t threads = limit;
    while (threads > 1 && (!extent || *extent % threads != 0)) --threads;
    return threads;
  }

  RuleSchedule& sch_;
  const TargetFacts& target_;
  const BlockInfo& info_;
  const Name block_;
  const BlockInfo* epilogue_;
  ReductionLoops loops_;
};

}  // namespace

bool ApplyGpuReduction(RuleSchedule& sch, const TargetAttr* target) {
  const TargetFacts facts = FactsOf(target);
  if (!facts.is_gpu) return false;
  const auto normalized = NormalizePrimFunc(sch);
  if (!normalized) return false;
  const std::vector<BlockInfo> infos = TryInlineContiguousSpatial(sch, *normalized);
  if (infos.empty() || infos.size() > 2) return false;
  const BlockInfo* epilogue = infos.size() == 2 ? &infos[1] : nullptr;
  if (epilogue && !epilogue->IsInjective()) return false;
  const BlockInfo& info = infos[0];
  const tir::Block& block = sch.Block(info.block);
  if (!info.is_reduction || !info.HasReductionAxis() || block.writes.size() != 1 || !ReductionExprOf(block))
    return false;
  const auto access = FindDominantAccess(sch, info);
  return access && GpuReduction(sch, facts, info, epilogue).Apply(*access);
}

}  // namespace iropt::schedule
