// The flags of instruments, which are columns of instruments.def.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "iropt/driver/flags.h"
#include "iropt/pass/pipeline.h"
#include "iropt/support/result.h"

namespace iropt {

// An instrument with the option that a flag sets, if there is one.
struct FlaggedInstrument {
  std::string flag;  // with a dash
  InstrumentSpec spec;
};

// The instruments of a flag with the values that it is given. A number, a word or a text is the value of the option,
// after these conversions:
//   DURATION, SIZE, FACTOR        numbers, see run_limits.h
//   words for a boolean option    the first one is false, the second one true
//   words for a choice            that many choices in their order
//   a switch                      true for a boolean option, else the default of the option
// The values of -report are those of several instruments.
Result<std::vector<FlaggedInstrument>> ReadInstrumentFlag(const Flag& flag, std::span<const std::string> values);

}  // namespace iropt
