// gpu.Transpose: a transposition of a matrix in tiles, through the shared memory.
#include <algorithm>

#include "block_info.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/structural.h"
#include "rule_list.h"
#include "target_facts.h"

namespace iropt::schedule {

namespace {

// B[indices] = A[the same indices in another order]
bool IsTranspose(const tir::Block& block) {
  const auto* store = As<tir::BufferStore>(block.body);
  const auto* load = store ? As<tir::BufferLoad>(store->value) : nullptr;
  if (!load) return false;
  const auto contains = [](List<const PrimExpr*> list, const PrimExpr* expr) {
    return std::ranges::any_of(list, [&](const PrimExpr* other) { return DeepEqual(other, expr); });
  };
  const auto all_in = [&](List<const PrimExpr*> a, List<const PrimExpr*> b) {
    return std::ranges::all_of(a, [&](const PrimExpr* expr) { return contains(b, expr); });
  };
  return !DeepEqual(store->indices, load->indices) && all_in(store->indices, load->indices) &&
         all_in(load->indices, store->indices);
}

struct TransposeTiling {
  int64_t tx, ty, unroll_depth;
};

void ScheduleTranspose(RuleSchedule& sch, const Name& block, const Names& loops, int64_t group,
                       const TransposeTiling& tiling) {
  const Names rows = sch.Split({loops[0], {std::nullopt, group}});
  const Names i = sch.Split({rows[0], {std::nullopt, tiling.ty}});
  const Names j = sch.Split({loops[1], {std::nullopt, tiling.tx}});
  sch.Reorder({{i[0], j[0], i[1], j[1], rows[1]}});
  sch.Bind({i[0], "blockIdx.y"});
  sch.Bind({j[0], "blockIdx.x"});
  sch.Bind({i[1], "threadIdx.y"});
  sch.Bind({j[1], "threadIdx.x"});
  const int64_t lanes = std::min<int64_t>(4, group);
  const Names vector = sch.Split({rows[1], {std::nullopt, lanes}});
  if (lanes > 1) sch.Vectorize({vector[1]});
  const Name copy = sch.CacheRead({block, 0, "shared"});
  sch.ComputeAt({copy, j[0]});
  const Names own = sch.GetLoops({copy});
  if (!sch.ok() || own.size() < 3) {
    sch.Fail();
    return;
  }
  const Names parts =
      sch.Split({sch.Fuse({{own.begin() + 2, own.end()}}), {std::nullopt, tiling.ty, tiling.tx, group}});
  sch.Bind({parts[1], "threadIdx.y"});
  sch.Bind({parts[2], "threadIdx.x"});
  sch.Unroll({parts[3]});
  sch.StorageAlign({copy, 0, 0, 32, 1});
  sch.Annotate({i[0], attr::kPragmaAutoUnrollMaxStep, tiling.unroll_depth});
  sch.Annotate({i[0], attr::kPragmaUnrollExplicit, 1});
}

}  // namespace

bool ApplyGpuTranspose(RuleSchedule& sch, const TargetAttr* target) {
  const TargetFacts facts = FactsOf(target);
  if (!facts.is_gpu) return false;
  const bool is_big = facts.kind == "cuda" || facts.kind == "opencl";
  const TransposeTiling tiling{is_big ? 16 : 8, is_big ? 8 : 4, facts.kind == "cuda" ? 256 : 64};
  const auto infos = NormalizePrimFunc(sch);
  if (!infos) return sch.Fail();
  const auto is_transpose = [&](const BlockInfo& info) { return IsTranspose(sch.Block(info.block)); };
  const auto found = std::find_if(infos->rbegin(), infos->rend(), is_transpose);
  if (found == infos->rend()) return false;
  if (!std::all_of(infos->rbegin(), found, [](const BlockInfo& info) { return info.IsInjective(); })) return false;
  const auto position = static_cast<std::ptrdiff_t>(infos->rend() - found) - 1;
  // The block before may decode what is transposed.
  const BlockInfo* prologue = nullptr;
  if (position > 0) {
    if (!TryInlineContiguousSpatial(sch, {infos->begin(), infos->begin() + position - 1}).empty()) return sch.Fail();
    prologue = &(*infos)[static_cast<size_t>(position - 1)];
  }
  const Name& block = (*infos)[static_cast<size_t>(position)].block;
  const Names loops = sch.GetLoops({block});
  if (!sch.ok() || loops.size() != 2) return false;
  int64_t group = 1;
  if (prologue) {
    const auto access = FindDominantAccess(sch, *prologue);
    if (!access) return false;
    if (!access->terms.empty()) group = std::max<int64_t>(access->terms[0].lower_factor, 1);
  }
  ScheduleTranspose(sch, block, loops, group, tiling);
  if (prologue) sch.ComputeInline({prologue->block});
  return sch.ok();
}

}  // namespace iropt::schedule
