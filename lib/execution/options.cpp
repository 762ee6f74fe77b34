#include "iropt/execution/options.h"

#include "iropt/support/check.h"

namespace iropt {

std::string_view NameOf(LoopMode mode) {
  switch (mode) {
    case LoopMode::Interpret: return "interpret";
    case LoopMode::Compile: return "compile";
    case LoopMode::Auto: return "auto";
  }
  IROPT_UNREACHABLE("a way to run loops {}", static_cast<int>(mode));
}

LoopMode LoopModeOf(std::string_view word) {
  for (const LoopMode mode : {LoopMode::Interpret, LoopMode::Compile}) {
    if (NameOf(mode) == word) return mode;
  }
  return LoopMode::Auto;
}

}  // namespace iropt
