// cpu.Reduction: blocks that share their leading spatial axes, in one parallel loop. cpu.GEMV: products of a matrix and
// a vector.
#include <algorithm>

#include "cpu_facts.h"
#include "gemv.h"
#include "rule_list.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

// The bits of a vector of the target: those that it states, or what TVM takes for its processor.
int64_t VectorBits(const TargetAttr* target) {
  if (const auto* given = As<IntAttr>(target->config->Find("vector-width"))) return given->value;
  const auto* triple = As<StrAttr>(target->config->Find("mtriple"));
  const std::string_view processor = triple ? triple->value.substr(0, triple->value.find('-')) : std::string_view();
  if (processor == "x86_64" || processor == "amd64") return 512;
  if (processor == "i386" || processor == "i586" || processor == "i686" || processor == "x86") return 256;
  return 128;
}

void VectorizeInner(RuleSchedule& sch, const Name& block, int64_t lanes) {
  const Names loops = sch.GetLoops({block});
  if (!sch.ok() || loops.size() <= 1) return;
  const auto extent = ConstExtent(sch.Loop(loops.back()).extent);
  if (!extent || *extent > lanes)
    sch.Vectorize({sch.Split({loops.back(), {std::nullopt, lanes}})[1]});
  else if (*extent >= 2)
    sch.Vectorize({loops.back()});
}

void UnrollInner(RuleSchedule& sch, const Name& block, int64_t lanes) {
  const Names loops = sch.GetLoops({block});
  if (!sch.ok() || loops.size() <= 1) return;
  const auto extent = ConstExtent(sch.Loop(loops.back()).extent);
  if (extent && *extent <= lanes) return;
  const Name inner = sch.Split({loops.back(), {std::nullopt, lanes}})[1];
  sch.Annotate({inner, attr::kPragmaAutoUnrollMaxStep, lanes});
  sch.Annotate({inner, attr::kPragmaUnrollExplicit, 1});
}

void ScheduleCpuGemv(RuleSchedule& sch, const Name& block) {
  constexpr int64_t kVectorWidth = 8;
  constexpr int64_t kUnroll = 256;
  const Names loops = sch.GetLoops({block});
  if (!sch.ok() || loops.size() != 4) {
    sch.Fail();
    return;
  }
  std::optional<int64_t> extents[4];
  for (size_t i = 0; i < 4; ++i) extents[i] = ConstExtent(sch.Loop(loops[i]).extent);
  int64_t spatial_tile = 64, reduction_tile = 64;
  if (extents[0] && extents[1] && extents[2] && extents[3]) {
    const bool is_tall = *extents[0] * *extents[1] > *extents[2] * *extents[3];
    (is_tall ? spatial_tile : reduction_tile) = 128;
  }
  const Names s = sch.Split({loops[1], {std::nullopt, spatial_tile}});
  const Names r = sch.Split({loops[2], {std::nullopt, reduction_tile}});
  sch.Split({loops[3], {std::nullopt, std::min(kVectorWidth, extents[3].value_or(kVectorWidth))}});
  sch.Vectorize({s[1]});
  sch.Parallel({s[0]});
  sch.Annotate({r[0], attr::kPragmaAutoUnrollMaxStep, kUnroll});
  sch.Annotate({r[0], attr::kPragmaUnrollExplicit, 1});
}

}  // namespace

bool ApplyCpuReduction(RuleSchedule& sch, const TargetAttr* target) {
  if (!IsCpu(target)) return false;
  const auto normalized = NormalizePrimFunc(sch);
  if (!normalized || normalized->size() < 2) return false;
  const std::vector<BlockInfo>& infos = *normalized;
  const auto is_injective = [](const BlockInfo& info) { return info.IsInjective(); };
  if (std::ranges::all_of(infos, is_injective) || !infos.back().IsInjective()) return false;
  size_t leading = std::string::npos;
  for (const BlockInfo& info : infos) leading = std::min(leading, info.CountLeading(AxisKind::kSpatial));
  if (leading == 0) return false;
  const tir::Block& last = sch.Block(infos.back().block);
  const int64_t bits = last.writes.empty() ? 32 : last.writes[0]->buffer->dtype.bits;
  const int64_t lanes = std::max<int64_t>(VectorBits(target) / bits, 2);
  const Names loops = sch.GetLoops({infos.back().block});
  if (!sch.ok() || loops.size() < leading) return false;
  const Name spatial =
      leading > 1 ? sch.Fuse({{loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(leading)}}) : loops[0];
  sch.Parallel({spatial});
  VectorizeInner(sch, infos.back().block, lanes);
  for (size_t i = infos.size() - 1; i > 0; --i)
    sch.ComputeAt({.block = infos[i - 1].block, .loop = spatial, .preserve_unit_loops = true});
  for (size_t i = 0; i + 1 < infos.size(); ++i) {
    if (infos[i].IsInjective())
      VectorizeInner(sch, infos[i].block, lanes);
    else
      UnrollInner(sch, infos[i].block, lanes);
  }
  return sch.ok();
}

bool ApplyCpuGemv(RuleSchedule& sch, const TargetAttr* target) {
  if (!IsCpu(target)) return false;
  const auto normalized = NormalizePrimFunc(sch);
  if (!normalized) return false;
  const std::vector<BlockInfo> infos = TryInlineContiguousSpatial(sch, *normalized);
  if (infos.empty() || infos.size() > 2 || (infos.size() == 2 && !infos[1].IsInjective())) return false;
  const BlockInfo& info = infos[0];
  if (info.axes.size() < 2 || info.axes.size() > 3 || FindVectors(sch, info).empty()) return false;
  const std::optional<bool> is_inner = NormalizeGemv(sch, info);
  if (!is_inner || !*is_inner) return false;
  ScheduleCpuGemv(sch, info.block);
  return sch.ok();
}

}  // namespace iropt::schedule
