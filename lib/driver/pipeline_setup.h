// What a run of a pipeline is made of, from the options: the pipeline, its context and the instruments.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "instruments.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/driver_options.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pipeline.h"
#include "iropt/pass/timing.h"
#include "pipeline_trace.h"
#include "report.h"

namespace iropt {

class PipelineSetup {
 public:
  // Both must outlive it.
  PipelineSetup(CompilerInstance& compiler, const DriverOptions& options);

  // Reads the pipeline and fills the context.
  Status Run();

  PassContext& context() { return context_; }
  // The same without trace(), for runs that are not part of what it explains.
  PassContext UntracedContext() const;
  // The same without instruments, but with a check after every pass.
  PassContext CheckingContext() const;
  // Whether context() checks after every pass.
  bool verifies_each() const { return verifies_each_; }
  // Null where nothing is to be run.
  const Pass* pass() const { return pass_ ? &*pass_ : nullptr; }
  // Null where the options do not ask for it.
  Report* report() { return report_.get(); }
  PassTimingInstrument* timing() { return timing_.get(); }
  PipelineTrace* trace() { return trace_.get(); }
  // Everything that decides what runs, as a pipeline file and as a pipeline string.
  std::string PrintPipelineFile() const;
  std::string PrintPipeline() const;

 private:
  Status ReadPipelineFile();
  Status ReadPasses();
  Result<std::vector<LocatedName>> ReadNames(const char* flag, const std::vector<std::string>& names);
  Status CheckNames(const std::vector<LocatedName>& names);
  Status FillContext();
  Status FillNames();
  Status FillConfig();
  Result<InstrumentPlan> PlanInstruments();
  Status AddInstruments();
  void AddTrace();
  SettingOrigins Origins() const;
  std::string LevelOrigin() const;
  // Warns of passes that the pipeline names and the level leaves out; false where -Werror makes that an error.
  bool WarnOfSkipped();

  CompilerInstance& compiler_;
  const DriverOptions& options_;
  PassContext context_;
  PipelineFile file_;
  std::optional<Pipeline> pipeline_;
  std::optional<Pass> pass_;
  std::vector<LocatedName> disabled_;  // of all origins, the command line first
  std::vector<LocatedName> required_;
  std::vector<InstrumentSpec> instruments_;
  std::optional<int> bisect_limit_;
  bool verifies_each_ = false;
  std::shared_ptr<PipelineTrace> trace_;
  std::shared_ptr<PassTimingInstrument> timing_;
  std::shared_ptr<Report> report_;
};

}  // namespace iropt
