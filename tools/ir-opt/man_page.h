// The manual page of ir-opt.
#pragma once

#include <string>

#include "iropt/pass/registry.h"

namespace iropt {

// With the passes and the instruments of the registry.
std::string RenderIrOptManPage(const PassRegistry& registry);

}  // namespace iropt
