// Builds the pipeline, its context and the instruments from the options.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "driver/bisect/failure_point.h"
#include "driver/instruments/plan.h"
#include "driver/instruments/run_instruments.h"
#include "driver/pipeline/pass_selection.h"
#include "driver/pipeline/pipeline_settings.h"
#include "driver/session/output_paths.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/driver_options.h"
#include "iropt/observe/checkpoints.h"
#include "iropt/observe/dump_dir.h"
#include "iropt/observe/ir_printer.h"
#include "iropt/observe/output_files.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pipeline.h"
#include "iropt/pass/pipeline_cursor.h"
#include "iropt/semantics/semantic_check.h"

namespace iropt {

class PipelineSetup {
 public:
  // Both must outlive it.
  // `resumed` has the checkpoints of a run that goes on; null for a run from the beginning.
  PipelineSetup(CompilerInstance& compiler, const DriverOptions& options, const CheckpointIndex* resumed = nullptr);
  PipelineSetup(const PipelineSetup&) = delete;
  PipelineSetup& operator=(const PipelineSetup&) = delete;

  // Reads the pipeline, fills the context and makes the instruments.
  Status Run();

  CompilerInstance& compiler() const { return compiler_; }
  const PipelineSettings& settings() const { return settings_; }
  PassContext& context() { return settings_.context(); }
  void LimitConstants(const Module& module, int64_t max_growth) { settings_.LimitConstants(module, max_growth); }
  // Null if there is nothing to run.
  const Pass* pass() const { return settings_.pass(); }
  // Returns whether passes run, or operators get other formats.
  bool changes_modules() const { return pass() != nullptr || !options_.precision.format.empty(); }
  PassSelection& selection() { return selection_; }
  RunInstruments& run() { return run_; }
  // The functions that -filter-functions selects.
  FunctionFilter& filter() { return filter_; }
  // The inputs of the run, and where their modules go.
  const std::vector<InputOutput>& pairs() const { return pairs_; }
  // The settings for its own passes with its instruments.
  PipelineFile Settings() const;

  // Returns a copy of the context for another run of the whole pipeline.
  PassContext ContextForAnother() const;
  // Returns a copy of the context with a check after every pass, and of the instruments only with those that take part
  // in all runs.
  PassContext CheckingContext() const;
  // The instrument of this name with its options; null if the run does not have it.
  const InstrumentSpec* FindInstrument(std::string_view name) const;
  // Returns whether the table of times is JSON.
  bool prints_times_as_json() const;
  // The pass that has failed last, unless it was taken. Null unless there is a reproducer to write.
  FailedPass* failed_pass() { return failed_pass_.get(); }
  // Null unless modules are written to one after passes.
  const std::shared_ptr<DumpDir>& dump_dir() const { return dump_dir_; }
  // Removes what an earlier run wrote to the folder of -dump-dir; does nothing after the first call.
  Status RemoveOldDumps();

  // Take what -bisect does in runs of its own. Return whether this is such a run, which does not do it itself.
  bool TakesLimits(const RunLimits& limits);
  bool TakesSemantics(const SemanticCheckOptions& check);
  // The limits of each run of the passes, and the semantic check of their results, for -bisect.
  const RunLimits& limits() const { return limits_; }
  const SemanticCheckOptions& semantics() const { return semantics_; }

 private:
  Status AddSnapshots();
  Status AddCheckpoints();
  Result<std::vector<InstrumentSpec>> FlaggedInstruments();
  Result<InstrumentPlan> PlanInstruments();
  Status ClaimFiles(OutputFiles& files);
  Status AddInstruments();
  PassContext ContextWith(InstrumentList instruments) const;
  // Warns about inputs that the output folder has; false if -Werror turns that into an error.
  bool WarnOfReplacedInputs();

  CompilerInstance& compiler_;
  const DriverOptions& options_;
  const CheckpointIndex* resumed_;
  PipelineSettings settings_;
  RunInstruments run_;
  PassSelection selection_;
  std::shared_ptr<DumpDir> dump_dir_;
  FunctionFilter filter_;
  std::shared_ptr<PipelineCursor> cursor_;  // null if no instrument needs it
  std::shared_ptr<FailedPass> failed_pass_;
  std::vector<InstrumentSpec> own_instruments_;  // with all options
  std::vector<InstrumentSpec> instruments_;      // in the form of a pipeline file
  RunLimits limits_;
  SemanticCheckOptions semantics_;
  std::vector<InputOutput> pairs_;
};

}  // namespace iropt
