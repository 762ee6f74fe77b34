// Terminals that a program writes to.
#pragma once

#include <cstddef>
#include <optional>

namespace iropt {

// The number of columns; nothing if the file descriptor is not a terminal, or it does not tell.
std::optional<size_t> TerminalWidth(int fd);

}  // namespace iropt
