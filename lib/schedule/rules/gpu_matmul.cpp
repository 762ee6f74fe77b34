// gpu.Matmul: matrix products, C[S, I, J] += A[S, I, K] * B[S, J, K], by tensor cores or SIMD groups, in tiles
// that go through the shared memory, or, on phones, from registers.
#include "gpu_matmul.h"

#include <charconv>

#include "block_info.h"
#include "matmul_form.h"
#include "rule_list.h"
#include "target_facts.h"

namespace iropt::schedule {

namespace {

struct MatmulTiling {
  int64_t block_x = 8, block_y = 8;
  int64_t micro_x = 4, micro_y = 4, micro_k = 8;
  int64_t lanes = 1;
  int64_t unroll = 256;
  bool use_shared = true;
  bool align = false;
  bool inner_x = false;  // the last axis is that of the columns
};

MatmulTiling TilingFor(const TargetFacts& facts) {
  if (facts.kind == "cuda" || facts.kind == "rocm")
    return {.block_x = 8, .block_y = 16, .micro_x = 4, .micro_y = 4, .micro_k = 16, .lanes = 2, .align = true};
  if (facts.is_android || facts.is_adreno)
    return {.block_x = 32,
            .block_y = 4,
            .micro_x = 8,
            .micro_y = 2,
            .micro_k = 16,
            .lanes = 8,
            .unroll = 16,
            .use_shared = false,
            .inner_x = true};
  return {};
}

Name FetchShared(RuleSchedule& sch, const Name& main, int64_t index, const Name& at, const MatmulTiling& tiling) {
  Name block = sch.CacheRead({main, index, "shared"});
  const size_t count = sch.GetLoops({block}).size();
  sch.ComputeAt({.block = block, .loop = at, .preserve_unit_loops = true});
  const Names loops = sch.GetLoops({block});
  if (!sch.ok() || loops.size() < count) {
    sch.Fail();
    return {};
  }
  const Names parts = sch.Split({sch.Fuse({{loops.end() - static_cast<std::ptrdiff_t>(count), loops.end()}}),
                                 {tiling.block_y, tiling.block_x, std::nullopt, tiling.lanes}});
  sch.Vectorize({parts[3]});
  sch.Bind({parts[0], "threadIdx.y"});
  sch.Bind({parts[1], "threadIdx.x"});
  if (tiling.align) sch.StorageAlign({block, 0, 1, 8, tiling.lanes});
  return block;
}

// The loops of the product, bound to threads, with that over parts of the reduction, and that of a thread.
struct TiledProduct {
  Name reduction, thread;
};

TiledProduct TileProduct(RuleSchedule& sch, const Name& main, const MatmulTiling& tiling) {
  const int64_t x_size = tiling.block_x * tiling.micro_x, y_size = tiling.block_y * tiling.micro_y;
  sch.PadEinsum({main, {1, tiling.inner_x ? y_size : x_size, tiling.inner_x ? x_size : y_size, tiling.micro_k}});
  const Names loops = sch.GetLoops(main, 4);
  const Names y = sch.Split({loops[tiling.inner_x ? 1 : 2], {std::nullopt, 1, tiling.block_y, tiling.micro_y}});
  const Names x = sch.Split({loops[tiling.inner_x ? 2 : 1], {std::nullopt, 1, tiling.block_x, tiling.micro_x}});
  const Names k = sch.Split({loops[3], {std::nullopt, tiling.micro_k}});
  const Name& inner = tiling.inner_x ? x[3] : y[3];
  sch.Reorder({{y[0], x[0], y[1], x[1], y[2], x[2], k[0], k[1], tiling.inner_x ? y[3] : x[3], inner}});
  const Name by = sch.Fuse({{loops[0], y[0]}});
  sch.Bind({x[0], "blockIdx.x"});
  sch.Bind({by, "blockIdx.y"});
  sch.Bind({y[1], "vthread.y"});
  sch.Bind({x[1], "vthread.x"});
  sch.Bind({y[2], "threadIdx.y"});
  sch.Bind({x[2], "threadIdx.x"});
  if ((tiling.inner_x ? tiling.micro_x : tiling.micro_y) % tiling.lanes == 0)
    sch.Vectorize({sch.Split({inner, {std::nullopt, tiling.lanes}})[1]});
  sch.Annotate({x[2], attr::kPragmaAutoUnrollMaxStep, tiling.unroll});
  sch.Annotate({x[2], attr::kPragmaUnrollExplicit, 1});
  return {k[0], x[2]};
}

bool ScheduleTiles(RuleSchedule& sch, const Name& main, const MatmulTiling& tiling) {
  const TiledProduct tiles = TileProduct(sch, main, tiling);
  const Name result = sch.CacheWrite({main, 0, "local"});
  sch.ReverseComputeAt({.block = result, .loop = tiles.thread, .preserve_unit_loops = true});
  const Names own = sch.GetLoops(result, 1);
  if (tiling.micro_x % tiling.lanes == 0) sch.Vectorize({sch.Split({own.back(), {std::nullopt, tiling.lanes}})[1]});
  if (tiling.use_shared) {
    const Name a = FetchShared(sch, main, 0, tiles.reduction, tiling);
    const Name b = FetchShared(sch, main, 1, tiles.reduction, tiling);
    InlineProducers(sch, a);
    InlineProducers(sch, b);
  } else {
    InlineProducers(sch, main);
  }
  InlineConsumerChain(sch, result);
  sch.DecomposeReduction({main, tiles.reduction});
  return sch.ok();
}

// The dtype of the operands if tensor cores can multiply them, for the product in normal form; nothing otherwise.
std::optional<DataType> DtypeForTensorCores(const TargetFacts& facts, const tir::Block& block) {
  constexpr int64_t kMinExtent = 65;
  constexpr std::string_view kPrefix = "sm_";
  constexpr int kMinVersion = 70;
  int version = -1;
  if (facts.kind != "cuda" || !facts.arch.starts_with(kPrefix)) return std::nullopt;
  const std::string_view digits = facts.arch.substr(kPrefix.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (error != std::errc() || end != digits.data() + digits.size() || version < kMinVersion) return std::nullopt;
  for (size_t i = 1; i < block.iter_vars.size(); ++i) {
    if (ConstExtent(block.iter_vars[i]->dom->extent).value_or(kMinExtent) < kMinExtent) return std::nullopt;
  }
  const DataType in = block.reads[0]->buffer->dtype, out = block.writes[0]->buffer->dtype;
  const bool is_half = in == DataType::Float(16) && (out == in || out == DataType::Float(32));
  const bool is_int8 = in == DataType::Int(8) && out == DataType::Int(32);
  return is_half || is_int8 ? std::optional(in) : std::nullopt;
}

// The product in the function as it was, after a schedule for it has failed.
std::optional<Name> FindAgain(RuleSchedule& sch) {
  sch.Restart();
  const Names blocks = sch.GetChildBlocks({sch.GetBlock("root")});
  return sch.ok() ? FindOnlyReduction(sch, blocks) : std::nullopt;
}

}  // namespace

bool ApplyGpuMatmul(RuleSchedule& sch, const TargetAttr* target) {
  const TargetFacts facts = FactsOf(target);
  if (!facts.is_gpu) return false;
  const Names blocks = sch.GetChildBlocks({sch.GetBlock("root")});
  if (!sch.ok()) return false;
  std::optional<Name> main = FindOnlyReduction(sch, blocks);
  if (!main || !IsMatmul(sch.Block(*main))) return false;
  if ((facts.is_android || facts.is_adreno) && IsOuterReduction(sch.Block(*main))) {
    if (const auto scheduled = ScheduleOuterReduction(sch, *main, blocks)) return *scheduled;
  }
  if (!NormalizeMatmul(sch, *main)) return false;
  const std::optional<DataType> dtype = DtypeForTensorCores(facts, sch.Block(*main));
  const bool may_tensorize = dtype && !sch.original().attrs->Find(attr::kDoNotTensorize);
  if (may_tensorize || facts.kind == "metal") {
    main = FindAgain(sch);
    if (may_tensorize ? ScheduleTensorCores(sch, *main, dtype->ToString()) : ScheduleSimdGroups(sch, *main))
      return true;
    if (may_tensorize && !sch.ok()) return false;
    main = FindAgain(sch);
    if (!NormalizeMatmul(sch, *main)) return false;
  }
  return ScheduleTiles(sch, *main, TilingFor(facts));
}

}  // namespace iropt::schedule
