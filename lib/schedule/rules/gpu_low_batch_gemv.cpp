// gpu.LowBatchGEMV: products of a matrix, which may be decoded on the way, and a few vectors, whose number is a
// variable. It is padded to a multiple of a few (four), and the threads of a block share the rows, and the parts of the
// reduction, of so many vectors.
#include <algorithm>

#include "gemv.h"
#include "rule_list.h"
#include "schedule/stmt_tools.h"
#include "target_facts.h"

namespace iropt::schedule {

namespace {

// ---- What the function has to be

AxisSet ConstAxes(const tir::Block& block) {
  AxisSet axes;
  for (const tir::IterVar* axis : block.iter_vars) {
    if (arith::AsInt(axis->dom->extent)) axes.insert(axis->var);
  }
  return axes;
}

// pad_einsum accesses single elements at axes or constants.
bool HasPlainAccesses(const tir::Block& block) {
  for (const auto* regions : {&block.reads, &block.writes}) {
    for (const tir::BufferRegion* region : *regions) {
      const auto is_plain = [](const tir::Range* range) {
        return arith::IsInt(range->extent, 1) && (arith::AsInt(range->min) || Is<tir::Var>(range->min));
      };
      if (!std::ranges::all_of(region->region, is_plain)) return false;
    }
  }
  return true;
}

// The buffers that the block reads and that depend on some, but not all of its axes of constant extents, if it is a
// product with one data parallel axis of another extent; else none.
std::vector<const tir::Buffer*> FindFewVectors(RuleSchedule& sch, const BlockInfo& info) {
  const tir::Block& block = sch.Block(info.block);
  if (!info.is_reduction || block.reads.size() < 2 || block.writes.size() != 1 || !ReductionExprOf(block) ||
      !HasPlainAccesses(block))
    return {};
  const auto written = AxesOfAccess(block, *block.writes[0]);
  if (!written || written->empty()) return {};
  const AxisSet axes = ConstAxes(block);
  if (block.iter_vars.size() != axes.size() + 1) return {};
  for (const tir::IterVar* axis : block.iter_vars) {
    if (!axes.contains(axis->var) && axis->iter_type != tir::IterVarType::kDataPar) return {};
  }
  std::vector<const tir::Buffer*> vectors;
  for (const tir::BufferRegion* read : block.reads) {
    const auto used = AxesOfAccess(block, *read);
    const size_t count = used ? CountAxes(*used, &axes) : 0;
    if (count > 0 && count < axes.size()) vectors.push_back(read->buffer);
  }
  return vectors.size() < block.reads.size() ? vectors : std::vector<const tir::Buffer*>();
}

// Brings the loops into the order batch, spatial, reduction. Whether the fastest axis is one of the reduction; nothing
// if the axes have no such order.
std::optional<bool> NormalizeFewVectors(RuleSchedule& sch, const BlockInfo& info) {
  const tir::Block& block = sch.Block(info.block);
  const AxisSet const_axes = ConstAxes(block);
  const auto access = FindDominantAccess(sch, info, &const_axes);
  if (!access) return std::nullopt;
  const auto is_axis = [&](const tir::Var* var) {
    return std::ranges::any_of(block.iter_vars, [&](const tir::IterVar* axis) { return axis->var == var; });
  };
  if (tir::UsesVar(access->base, is_axis)) return std::nullopt;
  const auto fail = [&]() -> std::optional<bool> {
    sch.Fail();
    return std::nullopt;
  };
  std::vector<AxisSet> uses;
  for (const auto* regions : {&block.writes, &block.reads}) {
    for (const tir::BufferRegion* region : *regions) {
      auto axes = AxesOfAccess(block, *region);
      if (!axes) return fail();
      uses.push_back(*std::move(axes));
    }
  }
  Names order, spatial, reduction;
  for (const AxisInfo& axis : info.axes) {
    if (!const_axes.contains(axis.var)) order.push_back(axis.loop);
  }
  bool is_inner = false;
  for (const DominantAccess::Term& term : access->terms) {
    const auto axis =
        std::ranges::find_if(info.axes, [&](const AxisInfo& other) { return term.axis && other.var == term.axis; });
    if (axis == info.axes.end()) return fail();
    is_inner = axis->kind == AxisKind::kReduction;
    const bool is_batch = std::ranges::all_of(uses, [&](const AxisSet& axes) { return axes.contains(term.axis); });
    if (is_inner)
      reduction.push_back(axis->loop);
    else if (!is_batch)
      spatial.push_back(axis->loop);
  }
  if (spatial.empty() || reduction.empty() || order.size() != 1) return fail();
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.insert(order.end(), reduction.begin(), reduction.end());
  sch.Reorder({order});
  sch.Fuse({spatial});
  sch.Fuse({reduction});
  return sch.ok() ? std::optional(is_inner) : std::nullopt;
}

// ---- The schedules

struct FewVectorsTiling {
  std::string_view spatial_tag = "threadIdx.y", reduction_tag = "threadIdx.x";
  int64_t spatial = 1, reduction = 64;  // threads
  int64_t tile_spatial = 2, tile_reduction = 1;
  int64_t lanes = 1;
  bool load_shared = false;
  int64_t shared_lanes = -1;
  int64_t unroll = 64;
};

// TVM's tilings by kinds of targets; `is_tall`: there are more rows than columns.
FewVectorsTiling FewVectorsTilingFor(const TargetFacts& facts, bool is_tall) {
  FewVectorsTiling tiling;
  const auto threads = [&](int64_t spatial, int64_t reduction) {
    tiling.spatial = spatial;
    tiling.reduction = reduction;
  };
  if (facts.kind == "cuda") {
    tiling = {.lanes = 4, .load_shared = true, .shared_lanes = 8, .unroll = 256};
    is_tall ? threads(4, 64) : threads(16, 32);
  } else if (facts.kind == "metal") {
    tiling = {.lanes = 4, .unroll = 8};
    if (!is_tall) std::swap(tiling.spatial_tag, tiling.reduction_tag);
    threads(8, 32);
  } else if (facts.kind == "rocm") {
    tiling = {.lanes = 4, .load_shared = true, .shared_lanes = 8, .unroll = 256};
    is_tall ? threads(1, 128) : threads(8, 64);
  } else if (facts.is_android) {
    tiling = {.spatial_tag = "threadIdx.x", .reduction_tag = "threadIdx.y", .lanes = 8, .unroll = 8};
    threads(2, 32);
  } else if (facts.kind == "vulkan") {
    tiling = {.lanes = 4, .load_shared = true, .shared_lanes = 4, .unroll = 256};
    is_tall ? threads(4, 32) : threads(16, 32);
  } else if (facts.is_mali) {
    tiling.lanes = 8;
  }
  return tiling;
}

class GpuLowBatchGemv {
 public:
  GpuLowBatchGemv(RuleSchedule& sch, const TargetFacts& facts, Name block, std::optional<Name> dequantize,
                  std::optional<Name> pad, std::vector<const tir::Buffer*> vectors)
      : sch_(sch),
        facts_(facts),
        main_(std::move(block)),
        dequantize_(std::move(dequantize)),
        pad_(std::move(pad)),
        vectors_(std::move(vectors)) {}

  bool ScheduleInnerReduction() {
    ChooseTiling();
    FactorInner();
    if (dequantize_) ComputeMatrix();
    if (tiling_.load_shared) LoadVector();
    if (pad_) sch_.ComputeInline({*pad_});
    ReduceLanes();
    ReduceThreads();
    Finish();
    ScheduleEpilogue();
    return sch_.ok();
  }

  bool ScheduleOuterReduction() {
    constexpr int64_t kPack = 8, kScales = 4;
    const bool is_metal = facts_.kind == "metal";
    const int64_t spatial = is_metal ? 64 : 32, threads = 4, lanes = is_metal ? 4 : 1;
    const Names loops = sch_.GetLoops(main_, 3);
    const Names b = sch_.Split({loops[0], {std::nullopt, sch_.few()}});
    const Names s = sch_.Split({loops[1], {std::nullopt, spatial}});
    const Names r = sch_.Split({loops[2], {std::nullopt, threads, kScales, kPack}});
    sch_.Reorder({{b[0], s[0], s[1], r[0], b[1], r[2], r[1], r[3]}});
    lanes_ = sch_.RFactor({sch_.Fuse({{r[1], r[3]}}), 0});
    threads_ = sch_.RFactor({sch_.Split({sch_.GetLoops(main_, 5)[4], {threads, kPack}})[0], 0});
    const Names own = sch_.GetLoops(lanes_, 7);
    const Names last = sch_.Split({own[6], {threads, kPack}});
    sch_.Reorder({{own[0], own[1], own[2], last[0], own[3], own[5], own[4], last[1]}});
    sch_.Bind({own[0], "blockIdx.y"});
    sch_.Bind({own[1], "blockIdx.x"});
    sch_.Bind({own[2], "threadIdx.x"});
    sch_.Bind({last[0], "threadIdx.y"});
    AutoVectorize(sch_, last[1], lanes);
    // Matrices that are not decoded stay like this.
    if (!dequantize_) return sch_.ok();
    CopyDecoded(own[5], own[3], lanes);
    if (!pad_) return sch_.Fail();
    if (is_metal)
      SharePadded(own[3], threads, spatial, lanes);
    else
      sch_.ComputeInline({*pad_});
    CombineOuter(own[1]);
    return sch_.ok();
  }

 private:
  void ChooseTiling() {
    const Names loops = sch_.GetLoops(main_, 3);
    if (!sch_.ok()) return;
    const auto rows = ConstExtent(sch_.Loop(loops[1]).extent), columns = ConstExtent(sch_.Loop(loops[2]).extent);
    if (!rows || !columns) {
      sch_.Fail();
      return;
    }
    tiling_ = FewVectorsTilingFor(facts_, *rows > *columns);
    LimitThreads(facts_, tiling_.spatial, tiling_.reduction);
    const int64_t threads = tiling_.reduction;
    tiling_.tile_reduction =
        std::max<int64_t>(MaxFactor(*columns, {threads, threads * 2, threads * 4, threads * 8}) / threads, 1);
    tiling_.lanes = std::min(MaxFactor(tiling_.tile_reduction, {1, 2, 4, 8}), tiling_.lanes);
  }

  // Reduces in parts, first to the lanes of the threads, then to the threads.
  void FactorInner() {
    const Names loops = sch_.GetLoops(main_, 3);
    sch_.Split({loops[1], {std::nullopt, tiling_.spatial, tiling_.tile_spatial}});
    const Names parts = sch_.Split(
        {loops[2], {std::nullopt, tiling_.reduction, tiling_.tile_reduction / tiling_.lanes, tiling_.lanes}});
    sch_.Reorder({{parts[0], parts[2], parts[1], parts[3]}});
    lanes_ = sch_.RFactor({sch_.Fuse({{parts[1], parts[3]}}), 0});
    threads_ = sch_.RFactor({sch_.Split({sch_.GetLoops(main_, 5)[4], {tiling_.reduction, std::nullopt}})[0], 0});
    const Names own = sch_.GetLoops(lanes_, 7);
    const Names last = sch_.Split({own[6], {tiling_.reduction, std::nullopt}});
    block_loop_ = own[1];
    thread_loop_ = last[0];
    reduce_loop_ = own[4];
    sch_.Reorder({{own[1], own[2], last[0], own[4], own[3], own[5], last[1]}});
    sch_.Bind({own[1], "blockIdx.x"});
    sch_.Bind({own[2], tiling_.spatial_tag});
    sch_.Bind({last[0], tiling_.reduction_tag});
    sch_.Vectorize({last[1]});
    const Names batch = sch_.Split({own[0], {std::nullopt, sch_.few()}});
    sch_.Bind({batch[0], "blockIdx.y"});
    sch_.Reorder({{own[1], own[2], last[0], own[4], batch[1]}});
    tiling_.load_shared = tiling_.load_shared && FitsSharedMemory();
    if (tiling_.load_shared && vectors_.size() != 1) sch_.Fail();
  }

  bool FitsSharedMemory() {
    const auto size = BytesOf(vectors_);
    return size && *size <= facts_.max_shared_memory_per_block;
  }

  void ComputeMatrix() {
    sch_.ComputeAt({.block = *dequantize_, .loop = reduce_loop_, .preserve_unit_loops = true});
    sch_.SetScope({*dequantize_, 0, "local"});
    const Names loops = sch_.GetLoops(*dequantize_, 2);
    const Name& reduction = loops.back();
    const Names parts = sch_.Split({loops[loops.size() - 2], {std::nullopt, 1}});
    sch_.Reorder({{parts[0], reduction, parts[1]}});
    sch_.Vectorize({parts[1]});
  }

  void LoadVector() {
    vector_ = ShareVector(sch_, lanes_, thread_loop_,
                          {.reduction_tag = tiling_.reduction_tag,
                           .spatial = tiling_.spatial,
                           .reduction = tiling_.reduction,
                           .lanes = tiling_.shared_lanes});
  }

  // The loops over the threads of the rows, whose outer part has to be one iteration, and over the rows of a thread.
  std::pair<Name, Name> SplitRows(const Name& rows) {
    const Names parts = sch_.Split({rows, {std::nullopt, tiling_.spatial, tiling_.tile_spatial}});
    return {FuseUnit(parts[0], parts[1]), parts[2]};
  }
  Name FuseUnit(const Name& unit, const Name& loop) {
    if (sch_.ok() && !arith::IsInt(sch_.Loop(unit).extent, 1)) sch_.Fail();
    return sch_.Fuse({{unit, loop}});
  }

  void ReduceLanes() {
    sch_.ReverseComputeAt({.block = threads_, .loop = block_loop_, .preserve_unit_loops = true});
    const Names loops = sch_.GetLoops(threads_, 6);
    const auto [thread, tile] = SplitRows(sch_.FuseFrom(loops, 5));
    const Names lanes = sch_.Split({tile, {std::nullopt, MaxFactor(tiling_.tile_spatial, {1, 2, 4, 8})}});
    sch_.Reorder({{thread, loops[2], lanes[0], loops[4], lanes[1], loops[3]}});
    sch_.Bind({thread, tiling_.spatial_tag});
    sch_.Bind({loops[2], tiling_.reduction_tag});
    sch_.Vectorize({lanes[1]});
  }

  void ReduceThreads() {
    sch_.ReverseComputeAt({.block = main_, .loop = block_loop_, .preserve_unit_loops = true});
    const Names loops = sch_.GetLoops(main_, 5);
    const auto [thread, tile] = SplitRows(sch_.FuseFrom(loops, 4));
    sch_.Reorder({{tile, loops[3], thread, loops[2]}});
    sch_.Bind({thread, tiling_.spatial_tag});
    sch_.Bind({loops[2], tiling_.reduction_tag});
  }

  void Finish() {
    FinishParts(sch_, lanes_, threads_, 5, tiling_.unroll);
    if (tiling_.load_shared) UnrollShared(sch_, vector_, tiling_.unroll);
  }

  void ScheduleEpilogue() {
    const Names consumers = sch_.GetConsumers({main_});
    if (!sch_.ok() || consumers.empty()) return;
    const Name& block = consumers[0];
    if (IsBroadcastEpilogue(sch_, main_, block)) {
      sch_.ReverseComputeAt({block, block_loop_});
      sch_.SetScope({main_, 0, "shared"});
      const Name rest = sch_.FuseFrom(sch_.GetLoops(block, 4), 3);
      sch_.Bind({sch_.Split({rest, {std::nullopt, tiling_.spatial}})[1], tiling_.spatial_tag});
      return;
    }
    sch_.ReverseComputeAt({.block = block, .loop = block_loop_, .preserve_unit_loops = true});
    sch_.FuseFrom(sch_.GetLoops(block, 4), 3);
    sch_.Bind({SplitRows(sch_.GetLoops(block, 1).back()).first, tiling_.spatial_tag});
    sch_.SetScope({main_, 0, "local"});
  }

  // The decoded part of the matrix, and copies of what it is decoded from.
  void CopyDecoded(const Name& at, const Name& copies_at, int64_t lanes) {
    sch_.ComputeAt({.block = *dequantize_, .loop = at, .preserve_unit_loops = true});
    sch_.SetScope({*dequantize_, 0, "local"});
    AutoVectorize(sch_, sch_.FuseFrom(sch_.GetLoops(*dequantize_, 7), 6), lanes);
    for (int64_t i = 0; i < 2; ++i) {
      const Name copy = sch_.CacheRead({*dequantize_, i, "local"});
      sch_.ComputeAt({.block = copy, .loop = copies_at, .preserve_unit_loops = true});
      AutoVectorize(sch_, sch_.FuseFrom(sch_.GetLoops(copy, 6), 5), lanes);
    }
  }

  void SharePadded(const Name& at, int64_t threads, int64_t spatial, int64_t lanes) {
    sch_.SetScope({*pad_, 0, "shared"});
    sch_.ComputeAt({.block = *pad_, .loop = at, .preserve_unit_loops = true});
    sch_.StorageAlign({*pad_, 0, -2, 8, 1});
    const Names parts = sch_.Split({sch_.FuseFrom(sch_.GetLoops(*pad_, 6), 5), {threads, spatial, std::nullopt}});
    sch_.Bind({parts[0], "threadIdx.y"});
    sch_.Bind({parts[1], "threadIdx.x"});
    AutoVectorize(sch_, parts[2], lanes);
  }

  void CombineOuter(const Name& block_loop) {
    sch_.ReverseComputeAt({.block = threads_, .loop = block_loop, .preserve_unit_loops = true});
    const Names lanes = sch_.GetLoops(threads_, 6);
    sch_.Reorder({{lanes[5], lanes[2], lanes[4], lanes[3]}});
    sch_.Bind({lanes[5], "threadIdx.x"});
    sch_.Bind({lanes[2], "threadIdx.y"});
    sch_.ReverseComputeAt({.block = main_, .loop = block_loop, .preserve_unit_loops = true});
    const Names own = sch_.GetLoops(main_, 5);
    sch_.Reorder({{own[3], own[4], own[2]}});
    sch_.Bind({own[4], "threadIdx.x"});
    sch_.Bind({own[2], "threadIdx.y"});
    sch_.DecomposeReduction({lanes_, sch_.GetLoops(lanes_, 5)[4]});
    sch_.DecomposeReduction({threads_, sch_.GetLoops(threads_, 5)[4]});
    sch_.SetScope({lanes_, 0, "local"});
    sch_.SetScope({threads_, 0, "local"});
    const Names consumers = sch_.GetConsumers({main_});
    if (!sch_.ok() || consumers.empty()) return;
    if (IsBroadcastEpilogue(sch_, main_, consumers[0])) {
      sch_.Fail();
      return;
    }
    sch_.ReverseComputeAt({.block = consumers[0], .loop = block_loop, .preserve_unit_loops = true});
    sch_.Bind({sch_.GetLoops(consumers[0], 4)[3], "threadIdx.x"});
    sch_.SetScope({main_, 0, "local"});
  }

  RuleSchedule& sch_;
  const TargetFacts& facts_;
  const Name main_;
  const std::optional<Name> dequantize_, pad_;
  const std::vector<const tir::Buffer*> vectors_;
  FewVectorsTiling tiling_;
  Name lanes_, threads_, vector_;  // blocks
  Name block_loop_, thread_loop_, reduce_loop_;
};

// The blocks of the padded product: that which decodes the matrix, that which pads the vectors, and the others.
struct PaddedBlocks {
  std::optional<Name> dequantize, pad;
  std::vector<BlockInfo> others;
};

PaddedBlocks SortBlocks(RuleSchedule& sch, std::vector<BlockInfo> infos) {
  PaddedBlocks blocks;
  for (BlockInfo& info : infos) {
    const bool decodes = info.name.find("dequantize") != std::string::npos;
    const bool pads = info.name.find("pad") != std::string::npos;
    if (decodes)
      blocks.dequantize = info.block;
    else if (pads && sch.GetProducers({info.block}).empty())
      blocks.pad = info.block;
    if (!decodes && !pads) blocks.others.push_back(std::move(info));
  }
  return blocks;
}

}  // namespace

bool ApplyGpuLowBatchGemv(RuleSchedule& sch, const TargetAttr* target) {
  const TargetFacts facts = FactsOf(target);
  if (!facts.is_gpu) return false;
  auto infos = NormalizePrimFunc(sch);
  if (!infos) return false;
  const BlockInfo* reduction = nullptr;
  for (const BlockInfo& info : *infos) {
    if (!info.is_reduction) continue;
    if (reduction) return false;
    reduction = &info;
  }
  if (!reduction || FindFewVectors(sch, *reduction).empty()) return false;
  std::vector<int64_t> padding;
  for (const AxisInfo& axis : reduction->axes) padding.push_back(ConstExtent(axis.extent).value_or(sch.few()));
  sch.PadEinsum({reduction->block, padding});
  infos = NormalizePrimFunc(sch);
  if (!infos) return sch.Fail();
  PaddedBlocks blocks = SortBlocks(sch, *std::move(infos));
  const std::vector<BlockInfo> main = TryInlineContiguousSpatial(sch, blocks.others);
  if (main.empty() || main.size() > 2 || (main.size() == 2 && !main[1].IsInjective())) return false;
  const BlockInfo& info = main[0];
  if (info.axes.size() < 2 || info.axes.size() > 3) return false;
  std::vector<const tir::Buffer*> vectors = FindFewVectors(sch, info);
  if (vectors.empty()) return false;
  const std::optional<bool> is_inner = NormalizeFewVectors(sch, info);
  if (!is_inner) return false;
  GpuLowBatchGemv scheduler(sch, facts, info.block, blocks.dequantize, blocks.pad, std::move(vectors));
  return *is_inner ? scheduler.ScheduleInnerReduction() : scheduler.ScheduleOuterReduction();
}

}  // namespace iropt::schedule
