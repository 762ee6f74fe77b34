// What the functions that make instruments have, one for each row of instruments.def.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "driver/instruments/run_instruments.h"
#include "driver/instruments/table.h"
#include "driver/pipeline/pipeline_setup.h"
#include "iropt/observe/output_files.h"

namespace iropt {

class InstrumentSetup {
 public:
  // `pipeline` has read the pipeline and filled its context. All must outlive it.
  InstrumentSetup(PipelineSetup& pipeline, RunInstruments& run, OutputFiles& files)
      : pipeline_(pipeline), run_(run), files_(files) {}

  // Makes the instrument of the row, with all its options.
  Status Make(const OwnInstrument& row, const InstrumentSpec& spec);

  PipelineSetup& pipeline() const { return pipeline_; }
  CompilerInstance& compiler() const { return pipeline_.compiler(); }
  // Prints modules to stderr, under headings with the numbers of the counter.
  std::shared_ptr<const IrPrinter> MakePrinter() const;

  // Add the instrument of the row, in its phase and runs.
  void Add(std::shared_ptr<PassInstrument> instrument) { AddIn(row_->phase, std::move(instrument)); }
  void AddRenewed(std::shared_ptr<PassInstrument> first, RunInstruments::Renew renew) {
    run_.Add(row_->phase, row_->runs, std::move(first), std::move(renew));
  }
  // Adds an instrument that it needs in another phase.
  void AddIn(InstrumentPhase phase, std::shared_ptr<PassInstrument> instrument) {
    run_.Add(phase, row_->runs, std::move(instrument));
  }
  void Listen(std::shared_ptr<RunListener> listener) { run_.Listen(std::move(listener)); }
  // Adds an instrument that listens, too.
  template <class Instrument>
  void AddListener(const std::shared_ptr<Instrument>& instrument) {
    Add(instrument);
    Listen(instrument);
  }

  // Opens a file that the option of the row names. Fails before anything runs if it cannot be written, or must not be
  // replaced; `owner` is its flag.
  Result<std::unique_ptr<AtomicFile>> Open(std::string_view owner, const std::string& path, const FileKind& kind);
  // Reports what is wrong with a part of the options.
  Status Refuse(SourceSpan part, std::string message) const;

  // The listener that the reports share; null before the first one.
  std::shared_ptr<RunListener> report;

 private:
  PipelineSetup& pipeline_;
  RunInstruments& run_;
  OutputFiles& files_;
  const OwnInstrument* row_ = nullptr;  // that is made
  SourceSpan span_;
};

}  // namespace iropt
