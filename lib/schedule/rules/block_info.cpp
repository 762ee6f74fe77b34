#include "block_info.h"

#include <algorithm>

#include "iropt/arith/iter_map.h"
#include "iropt/ir/context.h"
#include "iropt/ir/structural.h"
#include "schedule/checks.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

AxisKind KindOf(tir::IterVarType type) {
  if (type == tir::IterVarType::kDataPar) return AxisKind::kSpatial;
  return type == tir::IterVarType::kCommReduce ? AxisKind::kReduction : AxisKind::kOther;
}

void CollectLeaves(RuleSchedule& sch, const Name& block, Names& leaves) {
  const Names children = sch.GetChildBlocks({block});
  if (children.empty()) leaves.push_back(block);
  for (const Name& child : children) CollectLeaves(sch, child, leaves);
}

// Returns whether each axis is bound to the variable of its loop, which begins with 0.
bool HasNormalBindings(RuleSchedule& sch, const Name& block) {
  const Ref* ref = sch.RefOf(block);
  const std::vector<Ref*> loops = sch.state().LoopsOf(ref);
  if (loops.empty()) return true;
  const tir::BlockRealize& realize = *sch.state().RealizeOf(ref);
  const auto is_bound = [](const PrimExpr* value, const Ref* loop) {
    return value == loop->loop().loop_var && arith::IsInt(loop->loop().min, 0);
  };
  return std::ranges::equal(realize.iter_values, loops, is_bound);
}

// The axes that run more than once, after one that runs once if no data parallel axis is among them.
const IndexMapAttr* NonUnitAxes(const tir::Block& block) {
  std::vector<const tir::Var*> params;
  std::vector<const PrimExpr*> results;
  bool has_spatial = false;
  for (const tir::IterVar* axis : block.iter_vars) {
    params.push_back(IRContext::Current().NewSymVar(axis->var->name, axis->var->dtype));
    if (arith::IsInt(axis->dom->extent, 1)) continue;
    results.push_back(params.back());
    has_spatial = has_spatial || axis->iter_type == tir::IterVarType::kDataPar;
  }
  if (!has_spatial) results.insert(results.begin(), arith::PrimBuilder().Const(0, DataType::Int(64)));
  return IndexMapAttr::Get(params, results);
}

BlockInfo Describe(RuleSchedule& sch, const Name& block) {
  BlockInfo info;
  info.block = block;
  const Names loops = sch.GetLoops({block});
  if (!sch.ok()) return info;
  const tir::Block& stmt = sch.Block(block);
  info.name = stmt.name_hint;
  for (size_t i = 0; i < std::min<size_t>(loops.size(), stmt.iter_vars.size()); ++i) {
    const tir::IterVar& axis = *stmt.iter_vars[i];
    info.axes.push_back({KindOf(axis.iter_type), axis.var, axis.dom->extent, loops[i]});
  }
  return info;
}

}  // namespace

std::vector<AxisKind> BlockInfo::Kinds() const {
  std::vector<AxisKind> kinds;
  for (const AxisInfo& axis : axes) kinds.push_back(axis.kind);
  return kinds;
}

size_t BlockInfo::CountLeading(AxisKind kind) const {
  const auto other = std::ranges::find_if(axes, [&](const AxisInfo& axis) { return axis.kind != kind; });
  return static_cast<size_t>(other - axes.begin());
}

size_t BlockInfo::CountTrailing(AxisKind kind) const {
  const auto other = std::find_if(axes.rbegin(), axes.rend(), [&](const AxisInfo& axis) { return axis.kind != kind; });
  return static_cast<size_t>(other - axes.rbegin());
}

bool BlockInfo::HasReductionAxis() const {
  return std::ranges::find(axes, AxisKind::kReduction, &AxisInfo::kind) != axes.end();
}

std::optional<std::vector<BlockInfo>> NormalizePrimFunc(RuleSchedule& sch) {
  const Name root = sch.GetBlock("root");
  Names leaves;
  CollectLeaves(sch, root, leaves);
  if (!sch.ok()) {
    sch.Forgive();
    return std::nullopt;
  }
  for (const Name& leaf : leaves) {
    if (!HasNormalBindings(sch, leaf)) return std::nullopt;
  }
  std::vector<BlockInfo> infos;
  for (const Name& leaf : leaves) {
    sch.Try(args::TransformBlockLayout<Named>{leaf, NonUnitAxes(sch.Block(leaf))});
    BlockInfo info = Describe(sch, leaf);
    if (!sch.ok()) return std::nullopt;
    info.is_reduction = IsReductionBlock(sch.state(), sch.RefOf(leaf), sch.RefOf(root));
    infos.push_back(std::move(info));
  }
  return infos;
}

std::vector<BlockInfo> TryInline(RuleSchedule& sch, std::vector<BlockInfo> blocks) {
  for (;;) {
    auto inlined = std::ranges::find_if(
        blocks, [&](const BlockInfo& info) { return sch.Try(args::ComputeInline<Named>{info.block}); });
    if (inlined == blocks.end())
      inlined = std::ranges::find_if(
          blocks, [&](const BlockInfo& info) { return sch.Try(args::ReverseComputeInline<Named>{info.block}); });
    if (inlined == blocks.end()) return blocks;
    blocks.erase(inlined);
  }
}

std::vector<BlockInfo> TryInlineContiguousSpatial(RuleSchedule& sch, const std::vector<BlockInfo>& blocks) {
  std::vector<BlockInfo> results, run;
  const auto finish_run = [&] {
    for (BlockInfo& info : TryInline(sch, std::exchange(run, {}))) results.push_back(std::move(info));
  };
  for (const BlockInfo& info : blocks) {
    if (info.IsInjective()) {
      run.push_back(info);
      continue;
    }
    finish_run();
    results.push_back(info);
  }
  finish_run();
  return results;
}

std::optional<AxisSet> AxesOfAccess(const tir::Block& block, const tir::BufferRegion& region) {
  AxisSet axes;
  for (const tir::Range* range : region.region) {
    if (!arith::IsInt(range->extent, 1)) return std::nullopt;
    for (const tir::Var* var : VarsOf(range->min)) {
      const auto is_axis = [&](const tir::IterVar* axis) { return axis->var == var; };
      if (std::ranges::any_of(block.iter_vars, is_axis)) axes.insert(var);
    }
  }
  return axes;
}

size_t CountAxes(const AxisSet& axes, const AxisSet* counted) {
  size_t count = 0;
  axes.ForEachInAnyOrder([&](const tir::Var* axis) { count += !counted || counted->contains(axis) ? 1 : 0; });
  return count;
}

std::optional<DominantAccess> FindDominantAccess(RuleSchedule& sch, const BlockInfo& info, const AxisSet* counted) {
  const tir::Block& block = sch.Block(info.block);
  const tir::BufferRegion* dominant = nullptr;
  size_t most = 0;
  for (const tir::BufferRegion* read : block.reads) {
    const auto axes = AxesOfAccess(block, *read);
    if (!axes) {
      sch.Fail();
      return std::nullopt;
    }
    const size_t count = CountAxes(*axes, counted);
    if (dominant && count <= most) continue;
    dominant = read;
    most = count;
  }
  if (!dominant) return std::nullopt;
  arith::Analyzer analyzer(sch.state().make(), arith::Analyzer::SymVars::kAny);
  const arith::PrimBuilder& make = analyzer.make();
  const tir::Buffer& buffer = *dominant->buffer;
  const PrimExpr* offset = nullptr;
  for (size_t i = 0; i < dominant->region.size(); ++i) {
    const PrimExpr* index = dominant->region[i]->min;
    if (buffer.strides.empty())
      offset = offset ? make.Add(make.Mul(offset, buffer.shape[i]), index) : index;
    else
      offset = offset ? make.Add(offset, make.Mul(index, buffer.strides[i])) : make.Mul(index, buffer.strides[i]);
  }
  if (!offset) offset = make.Const(0, DataType::Int(32));
  arith::IterRanges iters;
  for (const tir::IterVar* axis : block.iter_vars)
    iters.insert_or_assign(axis->var, tir::Range(make.Const(0, axis->var->dtype), axis->dom->extent));
  const arith::IndexDigits digits = arith::NormalizeIndex(analyzer.Simplify(offset), iters, analyzer);
  DominantAccess access;
  access.base = digits.base;
  for (const arith::IndexDigits::Digit& digit : digits.digits) {
    const int64_t* factor = arith::AsInt(digit.lower_factor);
    access.terms.push_back({digit.var, factor ? *factor : 0});
  }
  return access;
}

const PrimExpr* ReductionExprOf(const tir::Block& block) {
  const auto* store = As<tir::BufferStore>(block.body);
  const auto* sum = store ? As<tir::Add>(store->value) : nullptr;
  const auto* load = sum ? As<tir::BufferLoad>(sum->a) : nullptr;
  if (!load || load->buffer != store->buffer) return nullptr;
  return DeepEqual(load->indices, store->indices) ? sum->b : nullptr;
}

bool IsBroadcastEpilogue(RuleSchedule& sch, const Name& block, const Name& epilogue) {
  const tir::Block& reader = sch.Block(epilogue);
  const auto runs = [](const tir::IterVar* axis) { return !arith::IsInt(axis->dom->extent, 1); };
  const auto count = static_cast<size_t>(std::ranges::count_if(reader.iter_vars, runs));
  for (const tir::BufferRegion* read : reader.reads) {
    if (!UsesBuffer(sch.Block(block).writes, read->buffer)) continue;
    const auto axes = AxesOfAccess(reader, *read);
    if (!axes) return sch.Fail();
    if (axes->size() < count) return true;
  }
  return false;
}

std::optional<int64_t> ConstExtent(const PrimExpr* extent) {
  const int64_t* constant = arith::AsInt(extent);
  return constant ? std::optional(*constant) : std::nullopt;
}

}  // namespace iropt::schedule
