// cpu.Winograd: the transforms of convolutions by Winograd's algorithm, a tile of vectors of channels at a time.
//
//   for n, y, x, i, q, c in T.grid(...):          for p_c_0 in T.parallel(...):
//       columns[n, y, x, i, q, c] = ...               for ax0 in T.unroll(6), ax1 in T.unroll(6):
//                                          -->            for ax2 in T.vectorized(16): columns[...] = ...
//   for i, j, p, c in T.grid(6, 6, ...):              for i in T.unroll(6), j in T.unroll(6):
//       V[i, j, p, c] = ...                               for c_1 in T.vectorized(16): V[i, j, p, c] = ...
//
// The operands of a row of a tile depend on its index: once the loops over a tile are unrolled, no condition on it is
// left. The columns are in local memory, as is the padded tile of data. Elementwise blocks that follow run in the tile
// as well.
#include <algorithm>
#include <iterator>
#include <utility>

#include "cpu_blocks.h"
#include "iropt/schedule/winograd.h"
#include "rule_list.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

// Finds the annotation of a transform.
class TransformFinder : public tir::StmtExprVisitor {
 public:
  bool is_input = false;
  int64_t tile = 0;  // 0: the function has none

 protected:
  void VisitBlock(const tir::Block* block) override {
    for (const bool input : {true, false}) {
      const auto* size = As<IntAttr>(block->annotations->Find(input ? kWinogradInput : kWinogradOutput));
      if (!size) continue;
      is_input = input;
      tile = size->value;
    }
    StmtExprVisitor::VisitBlock(block);
  }
};

// The loops of the last block: those over tiles and vectors of channels, and those in a tile.
struct TransformLoops {
  Names outer, inner;
  int64_t lanes = 1;  // of the last one of `inner`; 1: channels are in the outer loops
};

// The loop over the axis that is the index of this number of what the block stores; nothing if the index is another
// expression.
std::optional<size_t> AxisAt(RuleSchedule& sch, const BlockInfo& info, size_t index) {
  const auto* store = To<tir::BufferStore>(sch.Block(info.block).body);
  const auto axis = std::ranges::find(info.axes, store->indices[static_cast<uint32_t>(index)],
                                      [](const AxisInfo& a) -> const PrimExpr* { return a.var; });
  if (axis == info.axes.end()) return std::nullopt;
  return static_cast<size_t>(axis - info.axes.begin());
}

TransformLoops SplitTransform(RuleSchedule& sch, const BlockInfo& info, const TransformFinder& found,
                              const CpuFacts& facts) {
  constexpr size_t kRank = 4, kRows = 0, kChannels = 3;
  // Data are transformed to [i, j, p, c], and results are [n, h, w, c].
  const size_t first = found.is_input ? kRows : kRows + 1;
  const Names loops = sch.GetLoops(info.block, info.axes.size());
  TransformLoops result;
  Name channels;
  for (size_t index = 0; index < kRank; ++index) {
    const auto axis = AxisAt(sch, info, index);
    if (!axis) continue;
    const bool in_tile = index == first || index == first + 1;
    if (index == kChannels) {
      channels = loops[*axis];
      result.lanes = LanesFor(ConstExtent(info.axes[*axis].extent).value_or(1),
                              facts.LanesOf(sch.Block(info.block).writes[0]->buffer->dtype));
    } else if (in_tile && found.is_input) {
      result.inner.push_back(loops[*axis]);
    } else if (in_tile) {
      const Names parts = sch.Split({loops[*axis], {std::nullopt, found.tile}});
      result.outer.push_back(parts[0]);
      result.inner.push_back(parts[1]);
    } else {
      result.outer.push_back(loops[*axis]);
    }
  }
  if (channels.empty()) return result;
  if (result.lanes < kFewestLanes) result.lanes = 1;
  const Names parts = sch.Split({channels, {std::nullopt, result.lanes}});
  result.outer.push_back(parts[0]);
  result.inner.push_back(parts[1]);
  return result;
}

// Unrolls the loops of a block in a tile, the last of which has the lanes.
void ScheduleInTile(RuleSchedule& sch, Names loops, int64_t lanes) {
  if (loops.empty() || !sch.ok()) return;
  if (lanes > 1 && ConstExtent(sch.Loop(loops.back()).extent) == lanes) {
    sch.Vectorize({loops.back()});
    loops.pop_back();
  }
  for (const Name& loop : loops) sch.Unroll({loop});
}

bool ScheduleTransform(RuleSchedule& sch, const TransformFinder& found, const CpuFacts& facts) {
  const auto normalized = NormalizePrimFunc(sch);
  if (!normalized) return false;
  const std::vector<BlockInfo> infos = InlineElementwise(sch, *normalized);
  if (!sch.ok() || !std::ranges::all_of(infos, &BlockInfo::IsInjective)) return false;
  const BlockInfo& last = infos.back();
  const auto* store = As<tir::BufferStore>(sch.Block(last.block).body);
  constexpr size_t kRank = 4;
  if (!store || store->indices.size() != kRank) return false;
  TransformLoops tile = SplitTransform(sch, last, found, facts);
  if (!sch.ok() || tile.inner.empty()) return false;
  if (tile.outer.empty()) tile.outer.push_back(sch.AddUnitLoop({tile.inner[0]}));
  Names order = tile.outer;
  order.insert(order.end(), tile.inner.begin(), tile.inner.end());
  sch.Reorder({order});
  const Name at = tile.outer.size() > 1 ? sch.Fuse({tile.outer}) : tile.outer[0];
  sch.Parallel({at});
  for (size_t i = infos.size() - 1; i-- > 0;) {
    sch.ComputeAt({infos[i].block, at});
    sch.SetScope({infos[i].block, 0, "local"});
    const Names loops = sch.GetLoops({infos[i].block});
    if (!sch.ok()) return false;
    ScheduleInTile(sch, {loops.begin() + 1, loops.end()}, tile.lanes);
  }
  ScheduleInTile(sch, tile.inner, tile.lanes);
  return sch.ok();
}

}  // namespace

bool ApplyCpuWinograd(RuleSchedule& sch, const TargetAttr* target) {
  TransformFinder found;
  found.VisitStmt(sch.original().body);
  if (!IsCpu(target) || found.tile <= 0 || HasScheduledLoops(sch.original())) return false;
  if (ScheduleTransform(sch, found, CpuFactsOf(target))) return true;
  sch.Restart();
  return false;
}

}  // namespace iropt::schedule
