// The output of the help flags.
#pragma once

#include <string>
#include <string_view>

#include "iropt/pass/registry.h"
#include "iropt/support/result.h"

namespace iropt {

// The detailed help of all flags.
std::string RenderIrOptHelpAll();
// The page of -help=PAGE: those of every tool, of commands, pipelines and flags of other tools, and of passes.
Result<std::string> RenderIrOptHelpPage(std::string_view page, const PassRegistry& registry);

}  // namespace iropt
