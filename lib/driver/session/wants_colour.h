// The choice between coloured and plain output.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "iropt/driver/compiler_options.h"

namespace iropt {

// With Colour::Auto, for a terminal that has colours, unless the environment variable NO_COLOR is set.
inline bool WantsColour(Colour colour, int fd) {
  if (colour != Colour::Auto) return colour == Colour::Always;
  const char* terminal = std::getenv("TERM");
  return isatty(fd) != 0 && std::getenv("NO_COLOR") == nullptr && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

}  // namespace iropt
