// The built-in instruments: the rows of instruments.def.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/driver/flags.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/result.h"

namespace iropt {

class InstrumentSetup;

// The order in which instruments see a pass begin and end: those that decide whether it runs, those that inspect the
// module before it, those that measure it, for which the work of others is not part of the pass, those that inspect the
// module after it, and those for which a pass fails also if one before them does.
enum class InstrumentPhase : uint8_t { Decide, Before, Time, After, Trace };

// The runs that an instrument takes part in: only the one that is asked for, also others of the whole pipeline, as
// -verify-determinism makes them, or also one that finds the pass whose result is ill-formed.
enum class InstrumentRuns : uint8_t { First, Again, All };

struct InstrumentFlag {
  Flag flag;
  std::string_view option;  // empty: none
};

struct OwnInstrument {
  std::string_view name;
  std::vector<OptionSpec> options;
  InstrumentPhase phase;
  InstrumentRuns runs;
  std::vector<InstrumentFlag> flags;
  std::string_view summary;
  Status (*make)(const CheckedOptions& options, InstrumentSetup& setup);
};

// In the order in which they see a pass.
std::span<const OwnInstrument> OwnInstruments();
// Null if there is none of the name.
const OwnInstrument* FindOwnInstrument(std::string_view name);
// The flags that enable the instrument: "-print-after=PASSES, -print-after-all".
std::string SpellFlags(const OwnInstrument& row);

}  // namespace iropt
