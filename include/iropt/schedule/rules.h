// Rules that schedule a PrimFunc for a target without search, as TVM's dlight does.
//
//   schedule::Schedule sch(module, nullptr, "main");
//   schedule::Refusal refusal;
//   const schedule::RuleResult result = schedule::ApplyRule(*FindRule("gpu.Fallback"), sch, "main", target, refusal);
//   if (result == schedule::RuleResult::kApplied) module = sch.Finish();
//
// A rule is a function that looks at the blocks and applies primitives; the schedule has their trace.
//
// Source: python/tvm/s_tir/dlight of TVM 0.27.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "iropt/ir/attr.h"
#include "iropt/schedule/schedule.h"

namespace iropt::schedule {

class RuleSchedule;  // lib/schedule/rules/rule_schedule.h

struct Rule {
  std::string_view name;  // gpu.Fallback, ...
  std::string_view summary;
  bool (*apply)(RuleSchedule& schedule, const TargetAttr* target);
};

// Failed: the rule applies, but a primitive was refused. The schedule is of use only if the rule was applied.
enum class RuleResult : uint8_t { kApplied, kNotApplied, kFailed };
// `few` is the number of vectors whose multiples gpu.LowBatchGEMV pads to.
inline constexpr int64_t kFewVectors = 4;
RuleResult ApplyRule(const Rule& rule, Schedule& schedule, std::string_view function, const TargetAttr* target,
                     Refusal& refusal, int64_t few = kFewVectors);

std::span<const Rule> Rules();
// Null if there is none of the name.
const Rule* FindRule(std::string_view name);

}  // namespace iropt::schedule
