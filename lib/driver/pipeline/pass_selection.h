// The runs of passes that options select: those to print, and those of -start-after and -stop-after.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/instruments/run_instruments.h"
#include "driver/pipeline/pipeline_settings.h"
#include "iropt/observe/pass_counter.h"
#include "iropt/pass/pass_range.h"
#include "iropt/pass/print_instruments.h"

namespace iropt {

class PassSelection {
 public:
  // All must outlive it.
  PassSelection(CompilerInstance& compiler, const DriverOptions& options, const PipelineSettings& settings,
                RunInstruments& run)
      : compiler_(compiler), options_(options), settings_(settings), run_(run) {}

  // The counter of passes, which takes part in the run from now on.
  std::shared_ptr<PassCounter> NumberPasses();
  // The passes of these names and numbers of runs; "*" is all. Reports what is wrong with them, and warns after the run
  // if it does not reach them.
  Result<PassFilter> FilterOf(std::vector<LocatedName> names);
  Status AddRange();
  // After the run: warns about runs of passes that were to be printed and did not happen.
  void WarnOfUnreached();

 private:
  Result<std::optional<PassPoint>> ReadPoint(const char* flag, const std::optional<std::string>& text);

  CompilerInstance& compiler_;
  const DriverOptions& options_;
  const PipelineSettings& settings_;
  RunInstruments& run_;
  std::shared_ptr<PassCounter> counter_ = std::make_shared<PassCounter>();
  bool counts_passes_ = false;
  std::shared_ptr<PassRange> range_;         // null if all passes run
  std::vector<size_t> printed_runs_;         // the numbers of those to print
  std::vector<LocatedName> printed_passes_;  // and those that are printed by name
};

}  // namespace iropt
