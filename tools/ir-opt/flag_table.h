// The flags of ir-opt, and what its pages say.
#pragma once

#include <span>

#include "cli/tool_description.h"

namespace iropt {

// All flags: those of flags.def in its order, those of instruments, and those that lead to modes with options of their
// own.
std::span<const Flag> Flags();
// Flags of runs: the former two.
std::span<const Flag> RunFlags();
std::span<const Flag> InstrumentFlags();

ToolDescription Description();

}  // namespace iropt
