// The choice between coloured and plain output.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "iropt/driver/compiler_options.h"

namespace iropt {

// With Colour::Auto, for a terminal that has colours, unless the environment variable NO_COLOR is set; and where
// CLICOLOR_FORCE is set and not 0, which makefiles and builds on servers do.
inline bool WantsColour(Colour colour, int fd) {
  if (colour != Colour::Auto) return colour == Colour::Always;
  if (std::getenv("NO_COLOR") != nullptr) return false;
  const char* force = std::getenv("CLICOLOR_FORCE");
  if (force != nullptr && *force != '\0' && std::string_view(force) != "0") return true;
  const char* terminal = std::getenv("TERM");
  return isatty(fd) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace iropt
