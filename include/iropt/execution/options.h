// Options of runs of functions, and of the tolerance of their results.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace iropt {

// The execution of PrimFuncs.
enum class LoopMode : uint8_t {
  Interpret,  // by the interpreter: every access is checked, and reads of uninitialized elements are errors
  Compile,    // compiled to machine code
  Auto,       // compiled if the interpreter would take long and the host can run the code, else interpreted
};

// Tolerances that replace those for the dtype, see tolerance.h.
struct ToleranceOptions {
  std::optional<double> relative = {};
  std::optional<double> absolute = {};
};

// "interpret", "compile" or "auto", and the mode of a word; Auto for any other word.
std::string_view NameOf(LoopMode mode);
LoopMode LoopModeOf(std::string_view word);

}  // namespace iropt
