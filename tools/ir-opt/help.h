// What the flags of help print.
#pragma once

#include <string>

namespace iropt {

// One line for each flag, by group, the exit codes and where to read on. No line is longer than 100 characters.
std::string RenderHelp();
// All that there is to say of the flags.
std::string RenderHelpAll();

}  // namespace iropt
