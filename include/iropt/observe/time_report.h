// The output of -time-passes.
#pragma once

#include <string>

#include "iropt/observe/options.h"
#include "iropt/observe/run_step.h"
#include "iropt/pass/timing.h"

namespace iropt {

// The times of the passes and of the steps of the driver. In JSON, they are one line:
//   {"time-passes": {"passes": [{"name": "A", "runs": 1, "changed": 0, "failed": 0, "wall_ms": 0.1, "self_ms": 0.1,
//                                "cpu_ms": 0.1, "self_cpu_ms": 0.1, "passes": [...]}],
//                    "steps": [{"name": "read", "wall_ms": 0.1, "cpu_ms": 0.1}, ...]}}
std::string RenderTimes(const PassTimingInstrument& timing, const StepTimes& steps, TimesForm form);

}  // namespace iropt
