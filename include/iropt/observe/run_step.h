// The steps of a run of the driver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "iropt/pass/timing.h"

namespace iropt {

enum class RunStep : uint8_t { Read, Check, Passes, CheckResult, Write };

inline constexpr std::array<std::string_view, 5> kRunStepNames = {"read", "check", "passes", "check result", "write"};

constexpr std::string_view RunStepName(RunStep step) { return kRunStepNames[static_cast<size_t>(step)]; }

// By RunStep.
using StepTimes = std::array<TimeSpent, kRunStepNames.size()>;

}  // namespace iropt
