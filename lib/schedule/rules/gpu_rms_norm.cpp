// gpu.RMSNorm: the root mean square of rows, and their division by it.
#include <algorithm>

#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "rule_list.h"
#include "target_facts.h"

namespace iropt::schedule {

namespace {

// B[indices] = A[indices], or a conversion of it
bool IsCopyOrCast(const tir::Block& block) {
  const auto* store = As<tir::BufferStore>(block.body);
  if (!store || block.reads.size() != 1 || block.writes.size() != 1) return false;
  const auto* cast = As<tir::Cast>(store->value);
  const auto* load = As<tir::BufferLoad>(cast ? cast->value : store->value);
  return load && std::ranges::equal(load->indices, store->indices);
}

bool IsRsqrt(const tir::Block& block) {
  const auto* store = As<tir::BufferStore>(block.body);
  if (!store || block.reads.size() != 1 || block.writes.size() != 1) return false;
  const auto* call = As<tir::Call>(store->value);
  return call && IsOp(call->op, op::kTirRsqrt);
}

// The stages in their order: the rows are read, squared and summed, their root is taken, they are divided by it, and
// written.
void ScheduleStages(RuleSchedule& sch, const Names& stages, int64_t threads) {
  const Name &read = stages[0], &square = stages[1], &sum = stages[2], &root = stages[3], &norm = stages[4],
             &write = stages[5];
  for (const Name& stage : stages) {
    const Names loops = sch.GetLoops({stage});
    if (!sch.ok() || loops.size() < 2) {
      sch.Fail();
      return;
    }
    sch.Fuse({{loops.begin(), loops.end() - 1}});
  }
  const auto split_rows = [&](const Name& stage) -> std::pair<Name, Name> {
    const Names loops = sch.GetLoops({stage});
    if (!sch.ok() || loops.size() != 2) {
      sch.Fail();
      return {};
    }
    return {loops[0], sch.Split({loops[1], {threads, std::nullopt, 8}})[0]};
  };
  const auto vectorize = [&](const Name& stage) {
    const Names loops = sch.GetLoops({stage});
    if (sch.ok()) sch.Vectorize({loops.back()});
  };
  const auto [row, thread] = split_rows(read);
  sch.Bind({row, "blockIdx.x"});
  sch.Bind({thread, "threadIdx.x"});
  vectorize(read);
  sch.ReverseComputeAt({square, thread});
  sch.ReverseComputeAt({sum, thread});
  sch.ReverseComputeAt({root, row});
  sch.ReverseComputeAt({norm, row});
  const auto [norm_row, norm_thread] = split_rows(norm);
  sch.Bind({norm_thread, "threadIdx.x"});
  sch.ReverseComputeAt({write, norm_thread});
  vectorize(write);
  sch.SetScope({square, 0, "local"});
  sch.SetScope({sum, 0, "local"});
  sch.SetScope({root, 0, "shared"});
  sch.SetScope({norm, 0, "local"});
}

}  // namespace

bool ApplyGpuRmsNorm(RuleSchedule& sch, const TargetAttr* target) {
  const TargetFacts facts = FactsOf(target);
  const int64_t threads = facts.kind == "cuda" ? 512 : facts.kind == "opencl" ? 256 : 64;
  const Name root = sch.GetBlock("root");
  const Names blocks = sch.GetChildBlocks({root});
  if (!sch.ok()) return false;
  const auto is_rsqrt = [&](const Name& block) { return IsRsqrt(sch.Block(block)); };
  if (std::ranges::none_of(blocks, is_rsqrt)) return false;
  sch.CacheRead({blocks.front(), 0, "local"});
  sch.CacheWrite({blocks.back(), 0, "local"});
  for (const Name& block : blocks) {
    if (sch.ok() && IsCopyOrCast(sch.Block(block))) sch.ComputeInline({block});
  }
  const Names stages = sch.GetChildBlocks({root});
  if (!sch.ok() || stages.size() != 6) return sch.Fail();
  if (!IsRsqrt(sch.Block(stages[3]))) return false;
  ScheduleStages(sch, stages, threads);
  return sch.ok();
}

}  // namespace iropt::schedule
