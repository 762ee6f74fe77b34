#include "iropt/schedule/rules.h"

#include <algorithm>
#include <array>

#include "rule_list.h"

namespace iropt::schedule {

namespace {

constexpr std::array kRules = {
    Rule{"cpu.GEMV", "matrix-vector products", ApplyCpuGemv},
    Rule{"cpu.Reduction", "blocks that share their leading spatial axes", ApplyCpuReduction},
    Rule{"cpu.Tile", "reductions in tiles of registers, and elementwise blocks", ApplyCpuTile},
    Rule{"cpu.Winograd", "transforms of convolutions by Winograd's algorithm", ApplyCpuWinograd},
    Rule{"gpu.Fallback", "every function", ApplyGpuFallback},
    Rule{"gpu.GEMV", "matrix-vector products", ApplyGpuGemv},
    Rule{"gpu.GeneralReduction", "reductions over the same axes, such as softmax", ApplyGpuGeneralReduction},
    Rule{"gpu.LowBatchGEMV", "products of a matrix and a few vectors, whose number is unknown", ApplyGpuLowBatchGemv},
    Rule{"gpu.Matmul", "matmuls", ApplyGpuMatmul},
    Rule{"gpu.RMSNorm", "root mean squares of rows", ApplyGpuRmsNorm},
    Rule{"gpu.Reduction", "a sum over some axes", ApplyGpuReduction},
    Rule{"gpu.Transpose", "a transposition of a matrix", ApplyGpuTranspose},
};

}  // namespace

std::span<const Rule> Rules() { return kRules; }

RuleResult ApplyRule(const Rule& rule, Schedule& schedule, std::string_view function, const TargetAttr* target,
                     Refusal& refusal, int64_t few) {
  RuleSchedule sch(schedule, function, few);
  if (!sch.ok()) return RuleResult::kNotApplied;
  const bool applies = rule.apply(sch, target);
  if (sch.ok()) return applies ? RuleResult::kApplied : RuleResult::kNotApplied;
  refusal = sch.refusal();
  return RuleResult::kFailed;
}

const Rule* FindRule(std::string_view name) {
  const auto* rule = std::ranges::find(kRules, name, &Rule::name);
  return rule == kRules.end() ? nullptr : &*rule;
}

}  // namespace iropt::schedule
