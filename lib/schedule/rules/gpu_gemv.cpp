// gpu.GEMV: products of a matrix, which may be decoded on the way, and a vector. With the reduction in the fastest axis
// the threads of a block share the rows, and the parts of the reduction.
#include <algorithm>

#include "gemv.h"
#include "rule_list.h"
#include "target_facts.h"

namespace iropt::schedule {

namespace {

struct GemvTiling {
  std::string_view spatial_tag = "threadIdx.y", reduction_tag = "threadIdx.x";
  int64_t spatial = 1, reduction = 64;  // threads
  int64_t vector_load = 1, lanes = 1;
  bool load_shared = false;
  int64_t shared_lanes = -1;
  int64_t unroll = 64;
  bool has_warp_shuffle = false;
  int64_t tile = 1;  // of the reduction, for each thread
};

// TVM's tilings by kinds of targets; `is_tall`: there are more rows than columns, null if that is not known.
GemvTiling GemvTilingFor(const TargetFacts& facts, std::optional<bool> is_tall) {
  GemvTiling tiling;
  const auto threads = [&](std::pair<int64_t, int64_t> tall, std::pair<int64_t, int64_t> wide) {
    if (is_tall) std::tie(tiling.spatial, tiling.reduction) = *is_tall ? tall : wide;
  };
  if (facts.kind == "cuda") {
    tiling = {
        .vector_load = 4, .lanes = 4, .load_shared = true, .shared_lanes = 8, .unroll = 256, .has_warp_shuffle = true};
    threads({16, 32}, {16, 32});
  } else if (facts.kind == "metal") {
    tiling = {.spatial_tag = "threadIdx.x", .reduction_tag = "threadIdx.y", .unroll = 256, .has_warp_shuffle = true};
    threads({4, 16}, {2, 64});
  } else if (facts.kind == "rocm") {
    tiling = {.lanes = 4, .shared_lanes = 8, .unroll = 256};
    threads({1, 128}, {8, 64});
  } else if (facts.is_android || facts.is_adreno) {
    tiling = {.spatial_tag = "threadIdx.x",
              .reduction_tag = "threadIdx.y",
              .spatial = 2,
              .reduction = 32,
              .lanes = 8,
              .unroll = 8};
  } else if (facts.is_mali) {
    tiling.lanes = 8;
  } else if (facts.kind == "vulkan") {
    tiling = {.lanes = 4, .load_shared = true, .shared_lanes = 4, .unroll = 256};
    threads({4, 32}, {16, 32});
  }
  return tiling;
}

class GpuGemv {
 public:
  GpuGemv(RuleSchedule& sch, const TargetFacts& facts, const BlockInfo& info, const BlockInfo* epilogue,
          std::vector<const tir::Buffer*> vectors)
      : sch_(sch), facts_(facts), gemv_(info.block), epilogue_(epilogue), vectors_(std::move(vectors)) {}

  bool Apply() {
    if (!ChooseTiling()) return false;
    Factor();
    LoadMatrix();
    if (tiling_.load_shared && vectors_.size() != 1) return false;
    if (tiling_.load_shared) LoadVector();
    ReduceLanes();
    ReduceThreads();
    Finish();
    if (epilogue_) ScheduleEpilogue();
    return sch_.ok();
  }

 private:
  bool ChooseTiling() {
    const Names loops = sch_.GetLoops(gemv_, 4);
    if (!sch_.ok()) return false;
    std::optional<int64_t> extents[4];
    for (size_t i = 0; i < 4; ++i) extents[i] = ConstExtent(sch_.Loop(loops[i]).extent);
    std::optional<bool> is_tall;
    if (extents[0] && extents[1])
      is_tall = extents[2] && extents[3] && *extents[0] * *extents[1] > *extents[2] * *extents[3];
    tiling_ = GemvTilingFor(facts_, is_tall);
    LimitThreads(facts_, tiling_.spatial, tiling_.reduction);
    const int64_t threads = tiling_.reduction;
    if (extents[3] && *extents[3] > 1)
      tiling_.tile = *extents[3];
    else if (extents[2])
      tiling_.tile =
          std::max<int64_t>(MaxFactor(*extents[2], {threads, threads * 2, threads * 4, threads * 8}) / threads, 1);
    else
      return false;
    tiling_.lanes = std::min(MaxFactor(tiling_.tile, {1, 2, 4, 8}), tiling_.lanes);
    return true;
  }

  // Reduces in parts, first to the lanes of the threads, then to the threads.
  void Factor() {
    const Names loops = sch_.GetLoops(gemv_, 4);
    const Name s = sch_.Fuse({{loops[0], loops[1]}});
    const Name r = sch_.Fuse({{loops[2], loops[3]}});
    sch_.Split({s, {std::nullopt, tiling_.spatial, 1}});
    const Names parts = sch_.Split({r, {std::nullopt, tiling_.reduction, tiling_.tile / tiling_.lanes, tiling_.lanes}});
    sch_.Reorder({{parts[0], parts[2], parts[1], parts[3]}});
    lanes_ = sch_.RFactor({sch_.Fuse({{parts[1], parts[3]}}), 0});
    const Names own = sch_.GetLoops(gemv_, 4);
    threads_ = sch_.RFactor({sch_.Split({own[3], {tiling_.reduction, std::nullopt}})[0], 0});
    const Names inner = sch_.GetLoops(lanes_, 6);
    const Names last = sch_.Split({inner[5], {tiling_.reduction, std::nullopt}});
    block_loop_ = inner[0];
    thread_loop_ = last[0];
    reduce_loop_ = inner[3];
    sch_.Reorder({{inner[0], inner[1], last[0], inner[3], inner[2], inner[4], last[1]}});
    sch_.Bind({inner[0], "blockIdx.x"});
    sch_.Bind({inner[1], tiling_.spatial_tag});
    sch_.Bind({last[0], tiling_.reduction_tag});
    sch_.Vectorize({last[1]});
    tiling_.load_shared = tiling_.load_shared && FitsShared();
  }

  bool FitsShared() {
    const auto size = BytesOf(vectors_);
    if (!size) return false;
    // Without shuffles, threads exchange their sums in it, too.
    int64_t sums = 0;
    for (const tir::Buffer* vector : vectors_) sums += tiling_.spatial * tiling_.reduction * BytesOf(vector->dtype);
    return *size + (tiling_.has_warp_shuffle ? 0 : sums) <= facts_.max_shared_memory_per_block;
  }

  void LoadMatrix() {
    const Name copy = sch_.CacheRead({lanes_, 1, "local"});
    const size_t count = sch_.GetLoops({copy}).size();
    sch_.ComputeAt({.block = copy, .loop = reduce_loop_, .preserve_unit_loops = true});
    const Names loops = sch_.GetLoops(copy, std::max<size_t>(count, 1));
    if (!sch_.ok()) return;
    const DataType dtype = sch_.Block(copy).reads[0]->buffer->dtype;
    const int64_t bytes = (dtype.bits + 7) / 8;
    const Name fused = count == 1 ? loops.back() : sch_.FuseFrom(loops, loops.size() - 2);
    sch_.Vectorize({sch_.Split({fused, {std::nullopt, std::max<int64_t>(1, tiling_.vector_load / bytes)}})[1]});
  }

  void LoadVector() {
    vector_ = ShareVector(sch_, lanes_, thread_loop_,
                          {.reduction_tag = tiling_.reduction_tag,
                           .spatial = tiling_.spatial,
                           .reduction = tiling_.reduction,
                           .lanes = tiling_.shared_lanes});
  }

  void ReduceLanes() {
    sch_.ReverseComputeAt({.block = threads_, .loop = block_loop_, .preserve_unit_loops = true});
    const Names loops = sch_.GetLoops(threads_, 4);
    const Names rows = sch_.Split({sch_.FuseFrom(loops, 3), {std::nullopt, tiling_.spatial, 1}});
    const Names lanes = sch_.Split({rows[2], {std::nullopt, 1}});
    const Name ts = sch_.Fuse({{rows[0], rows[1]}});
    sch_.Reorder({{ts, loops[1], lanes[0], lanes[1], loops[2]}});
    sch_.Bind({ts, tiling_.spatial_tag});
    sch_.Bind({loops[1], tiling_.reduction_tag});
    sch_.Vectorize({lanes[1]});
  }

  void ReduceThreads() {
    sch_.ReverseComputeAt({.block = gemv_, .loop = block_loop_, .preserve_unit_loops = true});
    const Names loops = sch_.GetLoops(gemv_, 3);
    const Names rows = sch_.Split({sch_.FuseFrom(loops, 2), {std::nullopt, tiling_.spatial, 1}});
    const Name ts = sch_.Fuse({{rows[0], rows[1]}});
    sch_.Reorder({{rows[2], ts, loops[1]}});
    sch_.Bind({ts, tiling_.spatial_tag});
    sch_.Bind({loops[1], tiling_.reduction_tag});
  }

  void Finish() {
    FinishParts(sch_, lanes_, threads_, 4, tiling_.unroll);
    if (tiling_.load_shared) UnrollShared(sch_, vector_, tiling_.unroll);
  }

  void ScheduleEpilogue() {
    const Name& block = epilogue_->block;
    if (!sch_.ok()) return;
    if (IsBroadcastEpilogue(sch_, gemv_, block)) {
      sch_.ReverseComputeAt({block, block_loop_});
      sch_.SetScope({gemv_, 0, "shared"});
      const Names loops = sch_.GetLoops(block, 3);
      sch_.Bind({sch_.Split({sch_.FuseFrom(loops, 2), {std::nullopt, tiling_.reduction}})[1], "threadIdx.x"});
      return;
    }
    sch_.ReverseComputeAt({.block = block, .loop = block_loop_, .preserve_unit_loops = true});
    sch_.FuseFrom(sch_.GetLoops(block, 2), 1);
    const Names parts = sch_.Split({sch_.GetLoops(block, 1).back(), {std::nullopt, tiling_.spatial, 1}});
    sch_.Bind({sch_.Fuse({{parts[0], parts[1]}}), tiling_.spatial_tag});
    sch_.SetScope({gemv_, 0, "local"});
  }

  RuleSchedule& sch_;
  const TargetFacts& facts_;
  const Name gemv_;
  const BlockInfo* epilogue_;
  const std::vector<const tir::Buffer*> vectors_;
  GemvTiling tiling_;
  Name lanes_, threads_, vector_;  // blocks
  Name block_loop_, thread_loop_, reduce_loop_;
};

}  // namespace

bool ApplyGpuGemv(RuleSchedule& sch, const TargetAttr* target) {
  const TargetFacts facts = FactsOf(target);
  if (!facts.is_gpu) return false;
  const auto normalized = NormalizePrimFunc(sch);
  if (!normalized) return false;
  const std::vector<BlockInfo> infos = TryInlineContiguousSpatial(sch, *normalized);
  if (infos.empty() || infos.size() > 2 || (infos.size() == 2 && !infos[1].IsInjective())) return false;
  const BlockInfo& info = infos[0];
  if (info.axes.size() < 2 || info.axes.size() > 3) return false;
  std::vector<const tir::Buffer*> vectors = FindVectors(sch, info);
  if (vectors.empty()) return false;
  const std::optional<bool> is_inner = NormalizeGemv(sch, info);
  if (!is_inner) return false;
  const BlockInfo* epilogue = infos.size() == 2 ? &infos[1] : nullptr;
  if (!*is_inner) return ScheduleOuterGemv(sch, facts, info.block, vectors[0], epilogue);
  return GpuGemv(sch, facts, info, epilogue, std::move(vectors)).Apply();
}

}  // namespace iropt::schedule
