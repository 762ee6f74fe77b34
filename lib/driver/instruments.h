// The instruments of a run: the built-in ones, which flags, pipeline files and -instruments enable, and those that
// plugins register.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/driver/driver_options.h"
#include "iropt/pass/pipeline.h"
#include "iropt/pass/registry.h"

namespace iropt {

// The instrument of -check-semantics in the form of a pipeline file.
InstrumentSpec SpecOf(const SemanticCheckOptions& check);

enum class InstrumentId : uint8_t {
#define IROPT_INSTRUMENT(Id, Name, Options, Flags, Summary) Id,
#include "iropt/driver/instruments.def"
};

// A row of instruments.def.
struct OwnInstrument {
  InstrumentId id;
  std::string name;
  std::vector<OptionSpec> options;
  std::string flags;
  std::string summary;
};

// In the order of their names.
std::span<const OwnInstrument> OwnInstruments();

// The number of a run of a pass in a list of names of passes; nothing if it is a name.
std::optional<size_t> RunNumberOf(std::string_view name);

// The requested instruments.
struct InstrumentPlan {
  PrintRequest print_before;
  PrintRequest print_after;
  ChangePrinting print_changed = ChangePrinting::Off;
  std::vector<LocatedName> print_passes;  // of both, if a file or -instruments names them
  bool print_trace = false;
  bool verify_each = false;
  std::optional<SemanticCheckOptions> check_semantics;
  TimesForm times = TimesForm::None;
  ShownForm stats = ShownForm::None;
  ShownForm metrics = ShownForm::None;
  ShownForm report = ShownForm::None;
  ShownForm track_memory = ShownForm::None;
  std::string remarks;      // a file; empty: none
  std::string report_file;  // empty: none
  std::string report_page;  // empty: none
  std::string time_trace;   // empty: none
  std::optional<int64_t> bisect_limit;
  std::vector<LocatedName> rewrite_limits;  // each PASS:N; those of the command line come last
  RunLimits limits;
  InstrumentList others;  // of the registry
  std::vector<InstrumentSpec> other_specs;

  explicit InstrumentPlan(const DriverOptions& options);
  // Returns whether instruments print modules.
  bool prints() const { return print_before.wanted() || print_after.wanted() || print_changed != ChangePrinting::Off; }
  // Adds the instrument of the spec. Reports an unknown name, and options that do not fit.
  Status Add(const InstrumentSpec& spec, const PassRegistry& registry, DiagnosticEngine& diagnostics);
  // The plan in the form of a pipeline file.
  std::vector<InstrumentSpec> Specs() const;

 private:
  class OwnOptions;

  Status AddOwn(InstrumentId id, const OwnOptions& options);
  void AddPrint(PrintRequest& request, const std::vector<LocatedName>& passes);
};

}  // namespace iropt
