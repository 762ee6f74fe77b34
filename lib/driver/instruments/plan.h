// The instruments that a run is asked for, by flags, pipeline files and -instruments.
#pragma once

#include <string_view>
#include <vector>

#include "driver/instruments/table.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/pipeline.h"
#include "iropt/pass/registry.h"

namespace iropt {

class InstrumentPlan {
 public:
  // Adds an instrument; what was added before takes precedence, but lists are joined. Reports an unknown name, and
  // options that do not fit.
  Status Add(const InstrumentSpec& spec, const PassRegistry& registry, DiagnosticEngine& diagnostics);
  // Removes what was added by this name.
  void Remove(std::string_view name);
  // The instruments of the table, each once with all its options, in the order of the rows.
  std::vector<InstrumentSpec> OwnSpecs() const;
  // Of the registry, as they were added.
  const InstrumentList& others() const { return others_; }
  // The plan in the form of a pipeline file: without the defaults of options.
  std::vector<InstrumentSpec> Specs() const;

 private:
  struct Given {
    const OwnInstrument* row;
    InstrumentSpec given;
    InstrumentSpec complete;  // with the options that have their defaults
  };

  OptionValue Merge(const OptionSpec& option, const OwnInstrument& row) const;

  std::vector<Given> own_;
  InstrumentList others_;
  std::vector<InstrumentSpec> other_specs_;
};

}  // namespace iropt
