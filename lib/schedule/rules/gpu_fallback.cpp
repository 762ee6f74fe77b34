// gpu.Fallback: inlines what can be inlined, and runs the spatial loops of the blocks that remain on the threads.
#include <algorithm>

#include "block_info.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "rule_list.h"
#include "target_facts.h"

namespace iropt::schedule {

namespace {

// Returns whether the statement launches threads itself.
bool LaunchesThreads(const tir::Stmt* stmt) {
  bool found = false;
  tir::PostOrderVisit(stmt, [&](const Node* node) {
    const auto* attr = As<tir::AttrStmt>(node);
    const auto* loop = As<tir::For>(node);
    found =
        found || (attr && tir::IsThreadKey(attr->attr_key)) || (loop && loop->for_kind == tir::ForKind::kThreadBinding);
  });
  return found;
}

}  // namespace

bool ApplyGpuFallback(RuleSchedule& sch, const TargetAttr* target) {
  const TargetFacts facts = FactsOf(target);
  if (!facts.is_gpu) return false;
  const auto infos = NormalizePrimFunc(sch);
  if (!infos) return false;
  std::vector<std::pair<Name, Name>> reductions;
  for (const BlockInfo& info : TryInline(sch, *infos)) {
    const Names loops = sch.GetLoops({info.block});
    if (!sch.ok()) return false;
    const auto is_bound = [&](const Name& loop) { return sch.Loop(loop).thread_binding != nullptr; };
    if (std::ranges::any_of(loops, is_bound)) continue;
    if (loops.empty() && LaunchesThreads(sch.Block(info.block).body)) continue;
    Names spatial, reduction, other;
    for (size_t i = 0; i < std::min(loops.size(), info.axes.size()); ++i)
      (info.axes[i].kind == AxisKind::kSpatial     ? spatial
       : info.axes[i].kind == AxisKind::kReduction ? reduction
                                                   : other)
          .push_back(loops[i]);
    if (spatial.empty()) spatial.push_back(sch.AddUnitLoop({info.block}));
    Names order = spatial;
    order.insert(order.end(), reduction.begin(), reduction.end());
    order.insert(order.end(), other.begin(), other.end());
    sch.Reorder({order});
    const Names parts = sch.Split({sch.Fuse({spatial}), {std::nullopt, facts.max_threads_per_block}});
    sch.Bind({parts[0], "blockIdx.x"});
    sch.Bind({parts[1], "threadIdx.x"});
    if (!reduction.empty()) reductions.emplace_back(info.block, reduction[0]);
    if (!sch.ok()) return false;
  }
  for (const auto& [block, loop] : reductions) sch.DecomposeReduction({block, loop});
  return sch.ok();
}

}  // namespace iropt::schedule
