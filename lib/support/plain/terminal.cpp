// A plain system does not tell how wide a terminal is.
#include "iropt/support/terminal.h"

namespace iropt {

std::optional<size_t> TerminalWidth(int) { return std::nullopt; }

}  // namespace iropt
