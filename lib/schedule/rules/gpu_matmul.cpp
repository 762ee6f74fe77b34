// gpu.Matmul: matrix products, C[S, I, J] += A[S, I, K] * B[S, J, K], by tensor cores or SIMD groups, in tiles
// that go through the shared memory, or, on phones, from registers.
#include "gpu_matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "block_info.h"
#include "iropt/ir/context.h"
#include "rule_list.h"
#include "schedule/stmt_tools.h"
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

// Kinds of axes of a product; kTrivial: it runs once.
enum class MatmulAxis : uint8_t { kBatch, kI, kJ, kK, kTrivial };

struct MatmulAxes {
  std::vector<std::pair<const tir::IterVar*, MatmulAxis>> axes;
  AxisSet a, b, c;  // that the operands depend on
};

std::optional<AxisSet> VarsOfAccess(const tir::BufferRegion& region) {
  AxisSet vars;
  for (const tir::Range* range : region.region) {
    if (!arith::IsInt(range->extent, 1)) return std::nullopt;
    for (const tir::Var* var : VarsOf(range->min)) vars.insert(var);
  }
  return vars;
}

std::optional<MatmulAxis> KindOfAxis(const tir::IterVar& axis, const MatmulAxes& uses) {
  const bool a = uses.a.contains(axis.var), b = uses.b.contains(axis.var), c = uses.c.contains(axis.var);
  if (arith::IsInt(axis.dom->extent, 1)) return MatmulAxis::kTrivial;
  if (axis.iter_type == tir::IterVarType::kDataPar) {
    if (a && b && c) return MatmulAxis::kBatch;
    if (a && c) return MatmulAxis::kI;
    if (b && c) return MatmulAxis::kJ;
  } else if (axis.iter_type == tir::IterVarType::kCommReduce && a && b && !c) {
    return MatmulAxis::kK;
  }
  return std::nullopt;
}

std::optional<MatmulAxes> DetectAxes(const tir::Block& block) {
  if (block.reads.size() != 2 || block.writes.size() != 1) return std::nullopt;
  auto a = VarsOfAccess(*block.reads[0]), b = VarsOfAccess(*block.reads[1]), c = VarsOfAccess(*block.writes[0]);
  if (!a || !b || !c) return std::nullopt;
  MatmulAxes result{{}, *std::move(a), *std::move(b), *std::move(c)};
  std::array<bool, 5> has{};
  for (const tir::IterVar* axis : block.iter_vars) {
    const auto kind = KindOfAxis(*axis, result);
    if (!kind) return std::nullopt;
    has[static_cast<size_t>(*kind)] = true;
    result.axes.emplace_back(axis, *kind);
  }
  for (const MatmulAxis kind : {MatmulAxis::kI, MatmulAxis::kJ, MatmulAxis::kK}) {
    if (!has[static_cast<size_t>(kind)]) return std::nullopt;
  }
  return result;
}

// The extent for an index map: its variables stand for those of the function by their names.
const PrimExpr* ExtentForMap(const PrimExpr* extent, const arith::PrimBuilder& make, Workspace& workspace) {
  if (arith::AsInt(extent)) return extent;
  tir::VarValues values;
  for (const tir::Var* var : VarsOf(extent)) values[var] = IRContext::Current().NewSymVar(var->name, var->dtype);
  return make.Cast(extent->dtype, tir::Substitute(extent, values, workspace));
}

// Fuses the axes of each kind, of those in `used` (null: all).
const IndexMapAttr* FuseByKind(const MatmulAxes& matmul, const AxisSet* used, std::initializer_list<MatmulAxis> kinds,
                               Workspace& workspace) {
  const arith::PrimBuilder make;
  std::vector<const tir::Var*> params;
  std::array<const PrimExpr*, 5> fused{};
  for (const auto& [axis, kind] : matmul.axes) {
    if (used && !used->contains(axis->var)) continue;
    const PrimExpr* extent = axis->dom->extent;
    params.push_back(IRContext::Current().NewSymVar(fmt::format("i{}", params.size()), extent->dtype));
    if (kind == MatmulAxis::kTrivial) continue;
    const PrimExpr*& sum = fused[static_cast<size_t>(kind)];
    sum = sum ? make.Add(make.Mul(sum, ExtentForMap(extent, make, workspace)), params.back()) : params.back();
  }
  std::vector<const PrimExpr*> results;
  for (const MatmulAxis kind : kinds) {
    const PrimExpr* sum = fused[static_cast<size_t>(kind)];
    results.push_back(sum ? sum : make.Const(0, params.empty() ? DataType::Int(32) : params[0]->dtype));
  }
  return IndexMapAttr::Get(params, results);
}

}  // namespace

std::optional<Name> FindOnlyReduction(RuleSchedule& sch, const Names& blocks) {
  std::optional<Name> found;
  for (const Name& block : blocks) {
    bool spatial = false, reduction = false;
    for (const tir::IterVar* axis : sch.Block(block).iter_vars) {
      spatial = spatial || axis->iter_type == tir::IterVarType::kDataPar;
      reduction = reduction || axis->iter_type == tir::IterVarType::kCommReduce;
      if (axis->iter_type != tir::IterVarType::kDataPar && axis->iter_type != tir::IterVarType::kCommReduce)
        return std::nullopt;
    }
    if (!spatial) return std::nullopt;
    if (reduction && found) return std::nullopt;
    if (reduction) found = block;
  }
  return found;
}

bool NormalizeMatmul(RuleSchedule& sch, const Name& main) {
  const Name a = sch.ReIndex({main, 0, Side::kRead});
  const Name b = sch.ReIndex({main, 1, Side::kRead});
  const Name c = sch.ReIndex({main, 0, Side::kWrite});
  if (!sch.ok()) return false;
  const auto axes = DetectAxes(sch.Block(main));
  if (!axes) return sch.Fail();
  using enum MatmulAxis;
  Workspace& workspace = sch.state().workspace();
  const IndexMapAttr* a_map = FuseByKind(*axes, &axes->a, {kBatch, kI, kK}, workspace);
  const IndexMapAttr* b_map = FuseByKind(*axes, &axes->b, {kBatch, kJ, kK}, workspace);
  const IndexMapAttr* c_map = FuseByKind(*axes, &axes->c, {kBatch, kI, kJ}, workspace);
  const IndexMapAttr* map = FuseByKind(*axes, nullptr, {kBatch, kI, kJ, kK}, workspace);
  sch.TransformLayout({a, 0, Side::kWrite, a_map});
  sch.TransformLayout({b, 0, Side::kWrite, b_map});
  sch.TransformLayout({c, 0, Side::kRead, c_map});
  sch.TransformBlockLayout({main, map});
  return sch.ok();
}

// ---- Inlining around the product

namespace {

void CollectAround(RuleSchedule& sch, const Name& block, bool producers, Names& found) {
  for (const Name& next : producers ? sch.GetProducers({block}) : sch.GetConsumers({block})) {
    found.push_back(next);
    CollectAround(sch, next, producers, found);
  }
}

void InlineConsumers(RuleSchedule& sch, const Name& block) {
  for (bool changed = true; changed && sch.ok();) {
    changed = false;
    Names consumers;
    CollectAround(sch, block, /*producers=*/false, consumers);
    for (const Name& consumer : consumers)
      changed = (sch.Exists(consumer) && sch.Try(args::ComputeInline<Named>{consumer})) || changed;
    for (const Name& consumer : consumers)
      changed = (sch.Exists(consumer) && sch.Try(args::ReverseComputeInline<Named>{consumer})) || changed;
  }
}

}  // namespace

void InlineProducers(RuleSchedule& sch, const Name& block) {
  for (bool changed = true; changed && sch.ok();) {
    changed = false;
    Names producers;
    CollectAround(sch, block, /*producers=*/true, producers);
    for (const Name& producer : producers)
      changed = (sch.Exists(producer) && sch.Try(args::ComputeInline<Named>{producer})) || changed;
  }
}

// Consumers that have other producers, too, get these inlined first.
void InlineConsumerChain(RuleSchedule& sch, const Name& block) {
  InlineConsumers(sch, block);
  const Names rest = sch.GetConsumers({block});
  if (rest.empty() || !sch.ok()) return;
  for (const Name& consumer : rest) {
    for (const Name& producer : sch.GetProducers({consumer})) {
      if (!sch.ok()) return;
      if (sch.RefOf(producer) == sch.RefOf(block)) continue;
      InlineProducers(sch, producer);
      sch.ComputeInline({producer});
    }
  }
  InlineConsumers(sch, block);
  if (!sch.GetConsumers({block}).empty()) sch.Fail();
}

// ---- The schedule

namespace {

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
  if (!main || !DetectAxes(sch.Block(*main))) return false;
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
