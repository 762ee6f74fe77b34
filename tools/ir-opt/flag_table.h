// The flags of ir-opt, and what its pages say.
#pragma once

#include <span>

#include "cli/tool_description.h"

namespace iropt {

// In the order of flags.def.
std::span<const Flag> Flags();

ToolDescription Description();

}  // namespace iropt
