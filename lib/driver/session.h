// One run of ir-opt: where diagnostics go, the pipeline and the context, made from the options.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explanation.h"
#include "instruments.h"
#include "iropt/diag/consumers.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"
#include "iropt/driver/driver_options.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pipeline.h"
#include "iropt/pass/registry.h"
#include "iropt/pass/timing.h"
#include "iropt/support/file.h"
#include "report.h"

namespace iropt {

class Session {
 public:
  explicit Session(const DriverOptions& options);

  // Reads the pipeline and fills the context.
  Status SetUp();
  // Reports an error that no diagnostic has told of yet. Returns its exit code.
  int Fail(const Error& error, std::string_view kind);

  const DriverOptions& options() const { return options_; }
  int threads() const { return context_.threads; }
  SourceManager& sources() { return sources_; }
  DiagnosticEngine& diagnostics() { return diagnostics_; }
  OutputStream& err() { return err_; }
  PassContext& context() { return context_; }
  // Null where nothing is to be run.
  const Pass* pass() const { return pass_ ? &*pass_ : nullptr; }
  // Null where the options do not ask for it.
  Report* report() { return report_.get(); }
  PassTimingInstrument* timing() { return timing_.get(); }
  Explanation* explanation() { return explanation_.get(); }
  // Everything that decides what runs, as a pipeline file and as a pipeline string.
  std::string PrintPipelineFile() const;
  std::string PrintPipeline() const;

 private:
  Status ReadPipelineFile();
  Status ReadPasses();
  Result<uint32_t> AddText(std::string flag, const std::string& text);
  Result<std::vector<LocatedName>> ReadNames(const char* flag, const std::vector<std::string>& names);
  Status CheckNames(const std::vector<LocatedName>& names);
  Status FillContext();
  Status FillNames();
  Status FillConfig();
  Result<InstrumentPlan> PlanInstruments();
  Status AddInstruments();
  SettingOrigins Origins() const;
  std::string LevelOrigin() const;
  void NoteSkipped();

  const DriverOptions& options_;
  SourceManager sources_;
  OutputStream err_;
  std::unique_ptr<DiagnosticConsumer> consumer_;
  DiagnosticEngine diagnostics_;
  PassRegistry registry_;
  PassContext context_;
  PipelineFile file_;
  std::optional<Pipeline> pipeline_;
  std::optional<Pass> pass_;
  std::vector<LocatedName> disabled_;  // of all origins, the command line first
  std::vector<LocatedName> required_;
  std::vector<InstrumentSpec> instruments_;
  std::unique_ptr<Explanation> explanation_;
  std::shared_ptr<PassTimingInstrument> timing_;
  std::shared_ptr<Report> report_;
};

}  // namespace iropt
