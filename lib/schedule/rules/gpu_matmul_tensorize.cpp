// Matrix products by instructions for matrices: tensor cores of CUDA, and SIMD groups of Metal.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gpu_matmul.h"
#include "iropt/ir/context.h"
#include "matmul_form.h"

namespace iropt::schedule {

namespace {

Name NthLast(const Names& loops, size_t n) { return loops[loops.size() - n]; }

// ---- Tensor cores

struct TensorCoreTiling {
  std::string_view in;                    // the abbreviation of the operands' dtype
  int64_t k_inner;                        // fragments of the reduction in shared memory
  int64_t factor, offset;                 // of the alignment of the operands in shared memory
  std::vector<std::string_view> results;  // dtypes of the result to try
};

TensorCoreTiling TilingForDtype(std::string_view dtype) {
  if (dtype == "int8") return {"s8", 1, 32, 16, {"s32"}};
  return {"f16", 4, 16, 8, {"f32", "f16"}};
}

class TensorCores {
 public:
  TensorCores(RuleSchedule& sch, Name main, std::string_view in_dtype)
      : sch_(sch), inner_(std::move(main)), tiling_(TilingForDtype(in_dtype)) {}

  bool Schedule() {
    sch_.PadEinsum({inner_, {1, kFragment * 8, kFragment * 8, kFragment * tiling_.k_inner}});
    TileLoops();
    const Name a = FetchToShared(0), b = FetchToShared(1);
    InlineProducers(sch_, a);
    InlineProducers(sch_, b);
    const Name a_fragments = LoadFragments(0, "wmma.matrix_a"), b_fragments = LoadFragments(1, "wmma.matrix_b");
    const Name result = sch_.CacheWrite({outer_, 0, "shared.dyn"});
    sch_.StorageAlign({result, 0, -2, 16, 4});
    store_ = sch_.CacheWrite({outer_, 0, "wmma.accumulator"});
    sch_.ReverseComputeAt({store_, thread_loop_});
    sch_.ReverseComputeAt({result, thread_loop_});
    SplitFragments(store_);
    const Names init = sch_.GetChildBlocks({sch_.DecomposeReduction({outer_, reduce_loop_})});
    if (!sch_.ok() || init.empty()) return sch_.Fail();
    if (!TensorizeLoad(a_fragments, "a") || !TensorizeLoad(b_fragments, "b_trans")) return false;
    const auto fits = [&](std::string_view dtype) { return TensorizeProduct(init[0], dtype); };
    if (std::ranges::none_of(tiling_.results, fits)) return false;
    InlineConsumerChain(sch_, result);
    const Names loops = sch_.GetLoops(result, 2);
    const Names parts = sch_.Split({sch_.FuseFrom(loops, loops.size() - 2), {std::nullopt, kWarp, kLanes}});
    sch_.Bind({parts[1], "threadIdx.x"});
    sch_.Vectorize({parts[2]});
    return sch_.ok();
  }

 private:
  static constexpr int64_t kFragment = 16, kWarp = 32, kLanes = 4, kWarps = 16;

  void TileLoops() {
    const Names loops = sch_.GetLoops(inner_, 4);
    const Names i = sch_.Split({loops[1], {std::nullopt, kFragment}});
    const Names j = sch_.Split({loops[2], {std::nullopt, kFragment}});
    const Names k = sch_.Split({loops[3], {std::nullopt, kFragment}});
    sch_.Reorder({{i[0], j[0], k[0], i[1], j[1], k[1]}});
    outer_ = sch_.Blockize({i[1]});
    const Names is = sch_.Split({i[0], {std::nullopt, 1, 4, 2}});
    const Names js = sch_.Split({j[0], {1, std::nullopt, 4, 2}});
    const Names ks = sch_.Split({k[0], {std::nullopt, tiling_.k_inner}});
    reduce_loop_ = ks[0];
    fragment_loop_ = ks[1];
    sch_.Annotate({ks[0], attr::kSoftwarePipelineOrder, std::vector<int64_t>{0, 3, 1, 4, 5, 2, 6}});
    sch_.Annotate({ks[0], attr::kSoftwarePipelineStage, std::vector<int64_t>{0, 0, 0, 0, 0, 1, 1}});
    sch_.Annotate({ks[1], attr::kSoftwarePipelineOrder, std::vector<int64_t>{0, 1, 2}});
    sch_.Annotate({ks[1], attr::kSoftwarePipelineStage, std::vector<int64_t>{0, 0, 1}});
    sch_.Reorder({{is[0], js[0], is[1], js[1], js[2], is[2], ks[0], ks[1], is[3], js[3]}});
    const Name x = sch_.Fuse({{is[0], js[0]}}), y = sch_.Fuse({{is[1], js[1]}});
    thread_loop_ = sch_.Fuse({{js[2], is[2]}});
    sch_.Bind({loops[0], "blockIdx.z"});
    sch_.Bind({x, "blockIdx.x"});
    sch_.Bind({y, "blockIdx.y"});
    sch_.Bind({thread_loop_, "threadIdx.y"});
  }

  Name FetchToShared(int64_t operand) {
    Name copy = sch_.CacheRead({outer_, operand, "shared.dyn"});
    sch_.ComputeAt({copy, reduce_loop_});
    const Names loops = sch_.GetLoops(copy, 2);
    const Names parts = sch_.Split({sch_.FuseFrom(loops, loops.size() - 2), {std::nullopt, kWarps, kWarp, kLanes}});
    sch_.Bind({parts[2], "threadIdx.x"});
    sch_.Bind({parts[1], "threadIdx.y"});
    sch_.Vectorize({parts[3]});
    sch_.StorageAlign({copy, 0, -2, tiling_.factor, tiling_.offset});
    sch_.Annotate({copy,
                   sch_.state().workspace().version() >= TextVersion::kV0_24 ? "tirx.manifest_shared_memory_local_stage"
                                                                             : attr::kManifestSharedMemoryLocalStage,
                   1});
    sch_.Annotate({copy, attr::kDoubleBufferScope, int64_t{0}});
    return copy;
  }

  Name LoadFragments(int64_t operand, std::string_view scope) {
    Name copy = sch_.CacheRead({outer_, operand, scope});
    sch_.ComputeAt({copy, fragment_loop_});
    return copy;
  }

  // The loops over the fragments, and that over the rows of one.
  std::array<Name, 3> SplitFragments(const Name& block) {
    const Names loops = sch_.GetLoops(block, 2);
    const Names i = sch_.Split({NthLast(loops, 2), {std::nullopt, kFragment}});
    const Names j = sch_.Split({NthLast(loops, 1), {std::nullopt, kFragment}});
    sch_.Reorder({{i[0], j[0], i[1], j[1]}});
    return {i[0], j[0], i[1]};
  }

  bool TensorizeLoad(const Name& block, std::string_view operand) {
    if (!sch_.ok()) return false;
    const auto [i, j, rows] = SplitFragments(block);
    sch_.Unroll({i});
    sch_.Unroll({j});
    sch_.Tensorize({rows, fmt::format("wmma_load_16x16x16_{}_{}_shared_dyn", tiling_.in, operand)});
    return sch_.Succeeded();
  }

  bool TensorizeProduct(const Name& init, std::string_view dtype) {
    sch_.Tensorize({NthLast(sch_.GetLoops(init, 2), 2), fmt::format("wmma_fill_16x16x16_{}", dtype)});
    sch_.Tensorize({NthLast(sch_.GetLoops(store_, 2), 2), fmt::format("wmma_store_16x16x16_{}_shared_dyn", dtype)});
    sch_.Tensorize(
        {NthLast(sch_.GetLoops(inner_, 3), 3), fmt::format("wmma_sync_16x16x16_{0}{0}{1}_trans", tiling_.in, dtype)});
    return sch_.Succeeded();
  }

  RuleSchedule& sch_;
  const Name inner_;
  const TensorCoreTiling tiling_;
  Name outer_, store_;  // blocks
  Name reduce_loop_, fragment_loop_, thread_loop_;
};

// ---- SIMD groups

class SimdGroups {
 public:
  SimdGroups(RuleSchedule& sch, Name main) : sch_(sch), main_(std::move(main)) {}

  bool Schedule() {
    sch_.PadEinsum({main_, {1, kBlock, kGroups * kBlock, kReduction}});
    TileLoops();
    const Name a = FetchToShared(0), b = FetchToShared(1);
    InlineProducers(sch_, a);
    InlineProducers(sch_, b);
    const Name a_group = LoadGroup(0), b_group = LoadGroup(1);
    const Name store = sch_.CacheWrite({main_, 0, "metal.simdgroup"});
    const Name result = sch_.CacheWrite({store, 0, "shared"});
    sch_.ReverseComputeAt({.block = store, .loop = group_loop_, .preserve_unit_loops = true});
    sch_.ReverseComputeAt({.block = result, .loop = block_loop_, .preserve_unit_loops = true});
    if (!sch_.ok()) return false;
    sch_.TransformLayout({b_group, 0, Side::kWrite, Transposition()});
    const Name init = sch_.DecomposeReduction({main_, reduce_loop_});
    TensorizeMatrix(a_group, "simdgroup_load_8x8x8_f16_shared");
    TensorizeMatrix(b_group, "simdgroup_load_8x8x8_f16_shared_trans");
    TensorizeMatrix(store, "simdgroup_store_8x8x8_f16_shared");
    TensorizeMatrix(init, "simdgroup_make_filled_8x8x8_f16");
    sch_.Tensorize({NthLast(sch_.GetLoops(main_, 3), 3), "simdgroup_multiply_accumulate_8x8x8_f16"});
    InlineConsumerChain(sch_, result);
    BindThreads(result);
    return sch_.Succeeded();
  }

 private:
  static constexpr int64_t kMatrix = 8, kBlock = 16, kReduction = 32, kGroups = 4, kGroupSize = 32, kLanes = 4;

  void TileLoops() {
    const Names loops = sch_.GetLoops(main_, 4);
    const Names i = sch_.Split({loops[1], {std::nullopt, 1, kBlock / kMatrix, kMatrix}});
    const Names j = sch_.Split({loops[2], {std::nullopt, kGroups, kBlock / kMatrix, kMatrix}});
    const Names k = sch_.Split({loops[3], {std::nullopt, kReduction / kMatrix, kMatrix}});
    block_loop_ = j[0];
    group_loop_ = j[1];
    reduce_loop_ = k[0];
    matrix_loop_ = k[1];
    sch_.Reorder({{i[0], j[0], i[1], j[1], k[0], k[1], i[2], j[2], i[3], j[3], k[2]}});
    sch_.Bind({i[0], "blockIdx.x"});
    sch_.Bind({j[0], "blockIdx.y"});
    sch_.Bind({loops[0], "blockIdx.z"});
    sch_.Bind({i[1], "threadIdx.y"});
    sch_.Bind({j[1], "threadIdx.z"});
  }

  void BindThreads(const Name& copy) {
    const Names loops = sch_.GetLoops(copy, 2);
    const Names parts =
        sch_.Split({sch_.FuseFrom(loops, loops.size() - 2), {std::nullopt, kGroups, 1, kGroupSize, kLanes}});
    sch_.Bind({parts[1], "threadIdx.z"});
    sch_.Bind({parts[2], "threadIdx.y"});
    sch_.Bind({parts[3], "threadIdx.x"});
    sch_.Vectorize({parts[4]});
  }

  Name FetchToShared(int64_t operand) {
    Name copy = sch_.CacheRead({main_, operand, "shared"});
    sch_.ComputeAt({.block = copy, .loop = reduce_loop_, .preserve_unit_loops = true});
    BindThreads(copy);
    return copy;
  }

  Name LoadGroup(int64_t operand) {
    Name copy = sch_.CacheRead({main_, operand, "metal.simdgroup"});
    sch_.ComputeAt({copy, matrix_loop_});
    return copy;
  }

  // Of the last two of three dimensions.
  static const IndexMapAttr* Transposition() {
    std::vector<const tir::Var*> params;
    for (const std::string_view name : {"s", "i", "j"})
      params.push_back(IRContext::Current().NewSymVar(name, DataType::Int(64)));
    return IndexMapAttr::Get(params, std::vector<const PrimExpr*>{params[0], params[2], params[1]});
  }

  void TensorizeMatrix(const Name& block, std::string_view intrinsic) {
    const Names loops = sch_.GetLoops(block, 2);
    const Names i = sch_.Split({NthLast(loops, 2), {std::nullopt, kMatrix}});
    const Names j = sch_.Split({NthLast(loops, 1), {std::nullopt, kMatrix}});
    sch_.Reorder({{i[0], j[0], i[1], j[1]}});
    sch_.Tensorize({i[1], intrinsic});
  }

  RuleSchedule& sch_;
  const Name main_;
  Name block_loop_, group_loop_, reduce_loop_, matrix_loop_;
};

}  // namespace

bool ScheduleTensorCores(RuleSchedule& sch, const Name& main, std::string_view in_dtype) {
  return NormalizeMatmul(sch, main) && TensorCores(sch, main, in_dtype).Schedule();
}

bool ScheduleSimdGroups(RuleSchedule& sch, const Name& main) {
  return NormalizeMatmul(sch, main) && SimdGroups(sch, main).Schedule();
}

}  // namespace iropt::schedule
