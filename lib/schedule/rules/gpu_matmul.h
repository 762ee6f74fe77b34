// The schedules for matrix products that gpu.Matmul chooses from.
#pragma once

#include <optional>
#include <string_view>

#include "rule_schedule.h"

namespace iropt::schedule {

// The products by tensor cores of CUDA, and by SIMD groups of Metal, of the only block that reduces. False if the
// instructions do not fit; the schedule is then to be begun again.
bool ScheduleTensorCores(RuleSchedule& sch, const Name& main, std::string_view in_dtype);
bool ScheduleSimdGroups(RuleSchedule& sch, const Name& main);

// Returns whether the fastest axis of the last operand is not one of the reduction.
bool IsOuterReduction(const tir::Block& block);
// The schedule for such products on phones, of a number of rows that is not known; nothing for others, which stay as
// they are.
std::optional<bool> ScheduleOuterReduction(RuleSchedule& sch, const Name& main, const Names& blocks);

}  // namespace iropt::schedule
