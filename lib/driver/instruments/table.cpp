#include "driver/instruments/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/driver/flag_rows.h"
#include "iropt/semantics/options.h"

namespace iropt {

#define IROPT_INSTRUMENT(Id, Name, Options, Phase, Runs, Flags, Summary)                                               \
  Status Make##Id(const CheckedOptions& options, InstrumentSetup& setup);
#include "iropt/driver/instruments.def"

namespace {

constexpr InstrumentPhase kPhases[] = {
#define IROPT_INSTRUMENT(Id, Name, Options, Phase, Runs, Flags, Summary) InstrumentPhase::Phase,
#include "iropt/driver/instruments.def"
};
static_assert(std::ranges::is_sorted(kPhases), "rows of instruments.def are in the order of phases");

}  // namespace

#define IROPT_OPTIONS(...)                                                                                             \
  { __VA_ARGS__ }
#define IROPT_OPTION(Name, Type, Default, Summary)                                                                     \
  OptionSpec { #Name, OptionType::Type, Default, Summary }
#define IROPT_CHOICE(Name, Default, Summary, ...)                                                                      \
  OptionSpec {                                                                                                         \
#Name, OptionType::String, Default, Summary, {}, { __VA_ARGS__ }                                                   \
  }
#define IROPT_FLAG(Group, Name, Option, Value, Summary, Details)                                                       \
  InstrumentFlag{{FlagGroup::Group, Name, Value, Summary, Details}, Option},
#define IROPT_INSTRUMENT(Id, Name, Options, Phase, Runs, Flags, Summary)                                               \
  {Name, Options, InstrumentPhase::Phase, InstrumentRuns::Runs, {Flags}, Summary, &Make##Id},

std::span<const OwnInstrument> OwnInstruments() {
  static const std::vector<OwnInstrument> rows = {
#include "iropt/driver/instruments.def"
  };
  return rows;
}

#undef IROPT_CHOICE
#undef IROPT_FLAG
#undef IROPT_OPTION
#undef IROPT_OPTIONS

const OwnInstrument* FindOwnInstrument(std::string_view name) {
  const std::span<const OwnInstrument> rows = OwnInstruments();
  const auto row = std::ranges::find(rows, name, &OwnInstrument::name);
  return row == rows.end() ? nullptr : &*row;
}

// Flags that need the first one are left out.
std::string SpellFlags(const OwnInstrument& row) {
  std::string text;
  for (const InstrumentFlag& given : row.flags) {
    const bool is_needy = given.flag.group == FlagGroup::Checks && &given != &row.flags.front();
    if (!is_needy) text += fmt::format("{}{}", text.empty() ? "" : ", ", Spelling(given.flag));
  }
  return text;
}

}  // namespace iropt
