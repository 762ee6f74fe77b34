// The flags of ir-opt.
#pragma once

#include <span>

#include "cli/flags.h"

namespace iropt {

// In the order of flags.def.
std::span<const Flag> Flags();

}  // namespace iropt
