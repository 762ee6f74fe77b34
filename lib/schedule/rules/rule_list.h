// The functions of all rules.
#pragma once

#include "iropt/ir/attr.h"
#include "rule_schedule.h"

namespace iropt::schedule {

// They return whether they apply. Where the schedule is not ok() afterwards, the rule has failed.

bool ApplyGpuFallback(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuGeneralReduction(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuGemv(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuLowBatchGemv(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuMatmul(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuReduction(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuTranspose(RuleSchedule& sch, const TargetAttr* target);
bool ApplyGpuRmsNorm(RuleSchedule& sch, const TargetAttr* target);
bool ApplyCpuReduction(RuleSchedule& sch, const TargetAttr* target);
bool ApplyCpuGemv(RuleSchedule& sch, const TargetAttr* target);
bool ApplyCpuTile(RuleSchedule& sch, const TargetAttr* target);
bool ApplyCpuWinograd(RuleSchedule& sch, const TargetAttr* target);

}  // namespace iropt::schedule
