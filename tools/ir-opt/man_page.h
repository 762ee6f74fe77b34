// The manual page, in the macros of man(7).
#pragma once

#include <string>

#include "iropt/pass/registry.h"

namespace iropt {

std::string RenderManPage(const PassRegistry& registry);

}  // namespace iropt
