// Rules that schedule a PrimFunc for a target without search, as TVM's dlight does.
//
//   schedule::Schedule sch(module, nullptr, "main");
//   if (schedule::FindRule("gpu.Fallback")->apply(sch, "main", target)) module = sch.Finish();
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

struct Rule {
  std::string_view name;  // gpu.Fallback, ...
  std::string_view summary;
  // Schedules the function; false if the rule does not apply. The schedule is of no use then.
  bool (*apply)(Schedule& schedule, std::string_view function, const TargetAttr* target);
};

std::span<const Rule> Rules();
// Null if there is none of the name.
const Rule* FindRule(std::string_view name);

}  // namespace iropt::schedule
