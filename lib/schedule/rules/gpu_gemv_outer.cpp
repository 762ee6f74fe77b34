// gpu.GEMV with the fastest axis of the matrix in the result: for Metal and phones, whose threads then read
// neighbouring elements.
#include <algorithm>

#include "gemv.h"
#include "schedule/stmt_tools.h"
#include "target_facts.h"

namespace iropt::schedule {

namespace {

constexpr int64_t kPack = 8, kScales = 4;  // elements that are decoded together, and groups of them

struct OuterTiling {
  int64_t spatial, reduction;  // threads
  int64_t lanes;
  int64_t vector_tile = 1, vector_lanes = 4;
  bool load_shared = false;
};

bool IsPhone(const TargetFacts& facts) { return facts.is_android || facts.is_adreno; }

// TVM's tilings; nothing where it has none, or the matrix is too small or too big for it.
std::optional<OuterTiling> OuterTilingFor(const TargetFacts& facts, const int64_t* rows, const int64_t* columns,
                                          const int64_t* group) {
  constexpr int64_t kMaxRows = 96000;
  if (!IsPhone(facts) && facts.kind != "metal") return std::nullopt;
  OuterTiling tiling = IsPhone(facts) ? OuterTiling{.spatial = 64, .reduction = 4, .lanes = 8}
                                      : OuterTiling{.spatial = 128, .reduction = 4, .lanes = 4};
  if (!columns || *columns < tiling.reduction * kScales * kPack) return std::nullopt;
  if (rows && *rows > kMaxRows) return std::nullopt;
  if (!rows) {
    tiling.spatial = 256;
    tiling.reduction = 1;
    tiling.load_shared = true;
  }
  const int64_t threads = tiling.reduction;
  const int64_t tile =
      group && *group > 1
          ? *group
          : std::max<int64_t>(MaxFactor(*columns, {threads, threads * 2, threads * 4, threads * 8}) / threads, 1);
  tiling.vector_lanes = std::min(MaxFactor(tile, {1, 2, 4, 8}), tiling.vector_lanes);
  return tiling;
}

class OuterGemv {
 public:
  OuterGemv(RuleSchedule& sch, Name gemv, const BlockInfo* epilogue, const OuterTiling& tiling)
      : sch_(sch), gemv_(std::move(gemv)), epilogue_(epilogue), tiling_(tiling) {}

  bool Schedule() {
    Factor();
    LoadOperands();
    Combine();
    if (epilogue_) ScheduleEpilogue();
    return sch_.ok();
  }

 private:
  void Factor() {
    const Names loops = sch_.GetLoops(gemv_, 4);
    const Name s = sch_.Fuse({{loops[0], loops[1]}});
    const Name r = sch_.Fuse({{loops[2], loops[3]}});
    const Names rows = sch_.Split({s, {std::nullopt, tiling_.spatial}});
    const Names parts = sch_.Split({r, {std::nullopt, tiling_.vector_tile, tiling_.reduction, kScales, kPack}});
    sch_.Reorder({{rows[0], rows[1], parts[0], parts[1], parts[3], parts[2], parts[4]}});
    lanes_ = sch_.RFactor({sch_.Fuse({{parts[2], parts[4]}}), 0});
    threads_ = sch_.RFactor({sch_.Split({sch_.GetLoops(gemv_, 3)[2], {tiling_.reduction, std::nullopt}})[0], 0});
    own_ = sch_.GetLoops(lanes_, 6);
    const Names last = sch_.Split({own_[5], {tiling_.reduction, kPack}});
    sch_.Reorder({{own_[0], own_[1], last[0], own_[2], own_[3], own_[4], last[1]}});
    sch_.Bind({own_[0], "blockIdx.x"});
    sch_.Bind({own_[1], "threadIdx.x"});
    sch_.Bind({last[0], "threadIdx.y"});
    AutoVectorize(sch_, last[1], tiling_.lanes);
  }

  void LoadOperands() {
    if (!sch_.ok()) return;
    if (sch_.Block(lanes_).reads.size() >= 3)
      sch_.ComputeAt({.block = sch_.CacheRead({lanes_, 2, "local"}), .loop = own_[3], .preserve_unit_loops = true});
    sch_.ComputeAt({.block = sch_.CacheRead({lanes_, 1, "local"}), .loop = own_[4], .preserve_unit_loops = true});
    if (!tiling_.load_shared) return;
    const Name vector = sch_.CacheRead({lanes_, 0, "shared"});
    sch_.ComputeAt({.block = vector, .loop = own_[2], .preserve_unit_loops = true});
    const Names parts =
        sch_.Split({sch_.GetLoops(vector, 1).back(),
                    {std::nullopt, tiling_.vector_tile, tiling_.spatial, tiling_.reduction, tiling_.vector_lanes}});
    sch_.Bind({parts[3], "threadIdx.y"});
    sch_.Bind({parts[2], "threadIdx.x"});
    AutoVectorize(sch_, parts[4], tiling_.vector_lanes);
  }

  void Combine() {
    sch_.ReverseComputeAt({.block = threads_, .loop = own_[0], .preserve_unit_loops = true});
    const Names lanes = sch_.GetLoops(threads_, 4);
    sch_.Reorder({{lanes[3], lanes[1], lanes[2]}});
    sch_.Bind({lanes[3], "threadIdx.x"});
    sch_.Bind({lanes[1], "threadIdx.y"});
    sch_.ReverseComputeAt({.block = gemv_, .loop = own_[0], .preserve_unit_loops = true});
    const Names loops = sch_.GetLoops(gemv_, 3);
    sch_.Reorder({{loops[2], loops[1]}});
    sch_.Bind({loops[2], "threadIdx.x"});
    sch_.Bind({loops[1], "threadIdx.y"});
    sch_.DecomposeReduction({lanes_, sch_.GetLoops(lanes_, 3)[2]});
    sch_.DecomposeReduction({threads_, sch_.GetLoops(threads_, 1).back()});
    sch_.SetScope({lanes_, 0, "local"});
    sch_.SetScope({threads_, 0, "local"});
    sch_.Annotate({sch_.GetLoops(threads_, 4)[3], attr::kPragmaAutoUnrollMaxStep, 8});
    sch_.Annotate({sch_.GetLoops(threads_, 4)[3], attr::kPragmaUnrollExplicit, 1});
  }

  void ScheduleEpilogue() {
    const Name& block = epilogue_->block;
    if (!sch_.ok()) return;
    if (IsBroadcastEpilogue(sch_, gemv_, block)) {
      sch_.ReverseComputeAt({block, own_[0]});
      sch_.SetScope({gemv_, 0, "shared"});
      const Name rest = sch_.FuseFrom(sch_.GetLoops(block, 3), 2);
      sch_.Bind({sch_.Split({rest, {std::nullopt, tiling_.spatial}})[1], "threadIdx.x"});
      return;
    }
    sch_.ReverseComputeAt({.block = block, .loop = own_[0], .preserve_unit_loops = true});
    sch_.FuseFrom(sch_.GetLoops(block, 2), 1);
    sch_.Bind({sch_.Split({sch_.GetLoops(block, 1).back(), {tiling_.spatial, std::nullopt}})[0], "threadIdx.x"});
    sch_.SetScope({gemv_, 0, "local"});
  }

  RuleSchedule& sch_;
  const Name gemv_;
  const BlockInfo* epilogue_;
  const OuterTiling tiling_;
  Name lanes_, threads_;  // blocks
  Names own_;             // the loops of the lanes
};

// Each thread has some rows, whatever the size of the matrix.
bool ScheduleRows(RuleSchedule& sch, const Name& block, const tir::Buffer* vector, const BlockInfo* epilogue,
                  const int64_t* rows) {
  constexpr int64_t kThreads = 128, kReduction = 4, kManyRows = 4096;
  const int64_t lanes = !rows ? 1 : *rows > kManyRows ? 4 : 2;
  const Names loops = sch.GetLoops(block, 4);
  const Names s = sch.Split({loops[1], {std::nullopt, kThreads, lanes}});
  const Names r = sch.Split({loops[2], {std::nullopt, kReduction}});
  sch.Bind({loops[0], "blockIdx.y"});
  sch.Bind({s[0], "blockIdx.x"});
  sch.Bind({s[1], "threadIdx.x"});
  sch.Reorder({{s[0], s[1], r[0], r[1], loops[3], s[2]}});
  sch.Annotate({s[1], attr::kPragmaAutoUnrollMaxStep, 8});
  sch.Annotate({s[1], attr::kPragmaUnrollExplicit, 1});
  if (!sch.ok()) return false;
  const auto reads = sch.Block(block).reads;
  const auto* const read = std::ranges::find(reads, vector, &tir::BufferRegion::buffer);
  const Name copy = sch.CacheRead({block, read - reads.begin(), "shared"});
  sch.ComputeAt({.block = copy, .loop = s[0], .preserve_unit_loops = true});
  const Names parts = sch.Split({sch.GetLoops(copy, 1).back(), {std::nullopt, kThreads, 8}});
  sch.Bind({parts[1], "threadIdx.x"});
  sch.Vectorize({parts[2]});
  sch.Vectorize({s[2]});
  if (epilogue) {
    sch.ReverseComputeAt({.block = epilogue->block, .loop = s[0], .preserve_unit_loops = true});
    const Names own = sch.Split({sch.GetLoops(epilogue->block, 1).back(), {kThreads, lanes}});
    sch.Bind({own[0], "threadIdx.x"});
    sch.Vectorize({own[1]});
    sch.SetScope({block, 0, "local"});
  }
  sch.DecomposeReduction({block, r[0]});
  return sch.ok();
}

}  // namespace

bool ScheduleOuterGemv(RuleSchedule& sch, const TargetFacts& facts, const Name& block, const tir::Buffer* vector,
                       const BlockInfo* epilogue) {
  const Names loops = sch.GetLoops(block, 4);
  if (!sch.ok()) return false;
  const auto extent = [&](size_t i) { return arith::AsInt(sch.Loop(loops[i]).extent); };
  if (const auto tiling = OuterTilingFor(facts, extent(1), extent(2), extent(3)))
    return OuterGemv(sch, block, epilogue, *tiling).Schedule();
  return IsPhone(facts) && ScheduleRows(sch, block, vector, epilogue, extent(1));
}

}  // namespace iropt::schedule
