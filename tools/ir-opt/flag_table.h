// The flags of ir-opt, and what its pages say.
#pragma once

#include <span>
#include <string_view>

#include "cli/tool_description.h"

namespace iropt {

// All flags: those of flags.def in its order, those of instruments, and those that lead to modes with options of their
// own.
std::span<const Flag> Flags();
// Flags of runs: the former two.
std::span<const Flag> RunFlags();
std::span<const Flag> InstrumentFlags();

// Pages of the help that follow from no flag: those of commands, of pipelines, and of flags of other tools.
inline constexpr std::string_view kCommandsPage = "commands";
inline constexpr std::string_view kPipelinesPage = "pipelines";
inline constexpr std::string_view kForeignPage = "other-tools";

ToolDescription Description();

}  // namespace iropt
