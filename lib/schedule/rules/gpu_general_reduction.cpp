// gpu.GeneralReduction: reductions over the same axes that follow each other, such as softmax and layer norm, in one
// kernel: a block of threads for each of the leading spatial axes, whose threads share the reductions.
#include <algorithm>

#include "block_info.h"
#include "iropt/ir/context.h"
#include "rule_list.h"
#include "schedule/stmt_tools.h"
#include "target_facts.h"

namespace iropt::schedule {

namespace {

struct ReductionShape {
  size_t leading_spatial;
  size_t trailing_reduction;
};

// The map that gives the last block the axes of the first one: those of the same extents in their order, or the last
// ones; the others have one value.
const IndexMapAttr* AlignAxes(RuleSchedule& sch, const BlockInfo& first, const BlockInfo& last) {
  arith::Analyzer analyzer(sch.state().make(), arith::Analyzer::SymVars::kAny);
  std::vector<const tir::Var*> params;
  for (const AxisInfo& axis : last.axes)
    params.push_back(IRContext::Current().NewSymVar(axis.var->name, axis.var->dtype));
  // The parameters of TVM's map have this dtype, whatever the axes have.
  const PrimExpr* zero = arith::PrimBuilder().Const(0, DataType::Int(64));
  std::vector<const PrimExpr*> results;
  size_t matched = 0;
  for (const AxisInfo& axis : first.axes) {
    const bool same = matched < params.size() && analyzer.CanProveEqual(axis.extent, last.axes[matched].extent);
    results.push_back(same ? params[matched++] : zero);
  }
  if (matched != params.size()) {
    results.assign(first.axes.size() - params.size(), zero);
    results.insert(results.end(), params.begin(), params.end());
  }
  return IndexMapAttr::Get(params, results);
}

// Puts the loops of the last block that the results of the reductions depend on before the others.
void ReorderLast(RuleSchedule& sch, const std::vector<BlockInfo>& infos) {
  const Names loops = sch.GetLoops({infos.back().block});
  if (!sch.ok()) return;
  const tir::Block& block = sch.Block(infos.back().block);
  AxisSet used;
  for (const tir::BufferRegion* read : block.reads) {
    const auto writes = [&](const BlockInfo& info) { return UsesBuffer(sch.Block(info.block).writes, read->buffer); };
    if (std::none_of(infos.begin(), infos.end() - 1, writes)) continue;
    for (const tir::Range* range : read->region) {
      for (const PrimExpr* expr : {range->min, range->extent}) {
        for (const tir::Var* var : VarsOf(expr)) used.insert(var);
      }
    }
  }
  Names spatial, others;
  for (size_t i = 0; i < loops.size(); ++i) {
    const bool is_used = i < block.iter_vars.size() && used.contains(block.iter_vars[i]->var);
    (is_used || arith::IsInt(sch.Loop(loops[i]).extent, 1) ? spatial : others).push_back(loops[i]);
  }
  spatial.insert(spatial.end(), others.begin(), others.end());
  sch.Reorder({spatial});
}

struct Tiling {
  int64_t threads;
  int64_t unroll_depth;
};

// Runs the loop on threads, each of which has an unrolled loop.
void Distribute(RuleSchedule& sch, const Name& loop, const Tiling& tiling) {
  const Names parts = sch.Split({loop, {std::nullopt, tiling.threads}});
  sch.Reorder({{parts[1], parts[0]}});
  sch.Bind({parts[1], "threadIdx.x"});
  sch.Annotate({parts[0], attr::kPragmaAutoUnrollMaxStep, tiling.unroll_depth});
  sch.Annotate({parts[0], attr::kPragmaUnrollExplicit, 1});
}

// All blocks in loops that run once.
bool ScheduleScalar(RuleSchedule& sch, const std::vector<BlockInfo>& infos) {
  for (size_t i = 0; i < infos.size(); ++i)
    sch.Bind({sch.AddUnitLoop({infos[i].block}), i == 0 ? "blockIdx.x" : "threadIdx.x"});
  return sch.ok();
}

void ScheduleBlocks(RuleSchedule& sch, const std::vector<BlockInfo>& infos, const ReductionShape& shape,
                    const Tiling& tiling) {
  const Names loops = sch.GetLoops({infos.back().block});
  if (!sch.ok() || loops.size() < shape.leading_spatial || loops.empty()) {
    sch.Fail();
    return;
  }
  const Name bx = sch.Fuse({{loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(shape.leading_spatial)}});
  const Names parts = sch.Split({loops.back(), {std::nullopt, tiling.threads}});
  sch.Reorder({{parts[1], parts[0]}});
  sch.Bind({bx, "blockIdx.x"});
  sch.Bind({parts[1], "threadIdx.x"});
  sch.Annotate({parts[0], attr::kPragmaAutoUnrollMaxStep, tiling.unroll_depth});
  sch.Annotate({parts[0], attr::kPragmaUnrollExplicit, 1});
  for (size_t i = infos.size() - 1; i > 0 && sch.ok(); --i) {
    const Name& block = infos[i - 1].block;
    const size_t writes = sch.Block(block).writes.size();
    for (size_t buffer = 0; buffer < writes; ++buffer) sch.SetScope({block, static_cast<int64_t>(buffer), "shared"});
    sch.ComputeAt({.block = block, .loop = bx, .preserve_unit_loops = true});
    const Names own = sch.GetLoops({block});
    if (!sch.ok() || own.size() < shape.trailing_reduction) {
      sch.Fail();
      return;
    }
    Distribute(sch, sch.Fuse({{own.end() - static_cast<std::ptrdiff_t>(shape.trailing_reduction), own.end()}}), tiling);
  }
}

}  // namespace

bool ApplyGpuGeneralReduction(RuleSchedule& sch, const TargetAttr* target) {
  const TargetFacts facts = FactsOf(target);
  if (!facts.is_gpu) return false;
  const bool is_big = facts.kind == "cuda" || facts.kind == "opencl";
  const Tiling tiling{is_big ? 256 : 64, facts.kind == "cuda" ? 256 : 64};
  const auto normalized = NormalizePrimFunc(sch);
  if (!normalized) return false;
  const std::vector<BlockInfo> infos = TryInlineContiguousSpatial(sch, *normalized);
  if (infos.empty()) return false;
  const std::vector<AxisKind> kinds = infos[0].Kinds();
  const ReductionShape shape{.leading_spatial = infos[0].CountLeading(AxisKind::kSpatial),
                             .trailing_reduction = infos[0].CountTrailing(AxisKind::kReduction)};
  const BlockInfo& last = infos.back();
  if (last.axes.size() < kinds.size()) {
    if (last.axes.empty()) return ScheduleScalar(sch, infos);
    sch.TransformBlockLayout({last.block, AlignAxes(sch, infos[0], last)});
  }
  if (shape.trailing_reduction == 0 || !last.IsInjective() || last.axes.size() > kinds.size()) return false;
  for (size_t i = 1; i + 1 < infos.size(); ++i) {
    if (infos[i].Kinds() != kinds) return false;
  }
  ReorderLast(sch, infos);
  ScheduleBlocks(sch, infos, shape, tiling);
  return sch.ok();
}

}  // namespace iropt::schedule
