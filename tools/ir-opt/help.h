// The output of the help flags.
#pragma once

#include <string>

namespace iropt {

// One line for each flag, by group, the exit codes and where to read on. No line is longer than 100 characters.
std::string RenderHelp();
// The detailed help of all flags.
std::string RenderHelpAll();

}  // namespace iropt
