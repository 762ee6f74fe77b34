// The text of --help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace iropt {

// Usage, the flags by group and the footer, as one writes flags: -name=VALUE. No line is longer than 100 characters as
// long as the footer keeps to that.
std::string RenderHelp(const CLI::App& app);

}  // namespace iropt
