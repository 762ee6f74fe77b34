#include "iropt/support/terminal.h"

#include <sys/ioctl.h>

namespace iropt {

std::optional<size_t> TerminalWidth(int fd) {
  struct winsize size = {};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? std::optional<size_t>(size.ws_col) : std::nullopt;
}

}  // namespace iropt
