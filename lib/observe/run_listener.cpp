#include "iropt/observe/run_listener.h"

#include <fmt/format.h>

namespace iropt {

Status OfFlag(std::string_view flag, Status written) {
  if (written.ok()) return written;
  return Error{written.error().code, fmt::format("{}: {}", flag, written.error().message)};
}

}  // namespace iropt
