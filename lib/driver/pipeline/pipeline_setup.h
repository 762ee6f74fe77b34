// Builds the pipeline, its context and the instruments from the options.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/bisect/failure_point.h"
#include "driver/instruments/plan.h"
#include "driver/instruments/run_instruments.h"
#include "driver/pipeline/pipeline_trace.h"
#include "driver/session/output_paths.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/driver_options.h"
#include "iropt/observe/checkpoints.h"
#include "iropt/observe/dump_dir.h"
#include "iropt/observe/ir_printer.h"
#include "iropt/observe/output_files.h"
#include "iropt/observe/pass_counter.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pass_range.h"
#include "iropt/pass/pipeline.h"
#include "iropt/pass/pipeline_cursor.h"
#include "iropt/pass/print_instruments.h"
#include "iropt/semantics/semantic_check.h"

namespace iropt {

class PipelineSetup {
 public:
  // Both must outlive it.
  // `resumed` has the checkpoints of a run that goes on; null for a run from the beginning.
  PipelineSetup(CompilerInstance& compiler, const DriverOptions& options, const CheckpointIndex* resumed = nullptr);

  // Reads the pipeline and fills the context.
  Status Run();

  CompilerInstance& compiler() const { return compiler_; }
  PassContext& context() { return context_; }
  // Returns a copy of the context for another run of the whole pipeline.
  PassContext ContextForAnother() const;
  // Returns a copy of the context with a check after every pass, and of the instruments only with those that take part
  // in all runs.
  PassContext CheckingContext() const;
  // Follows a run of the pipeline in a context that has it.
  std::shared_ptr<PipelineCursor> MakeCursor() const;
  // The pass that has failed last, unless it was taken. Null unless there is a reproducer to write.
  FailedPass* failed_pass() { return failed_pass_.get(); }
  // The instrument of this name with its options; null if the run does not have it.
  const InstrumentSpec* FindInstrument(std::string_view name) const;
  // Null if there is nothing to run.
  const Pass* pass() const { return pass_ ? &*pass_ : nullptr; }
  // The functions that -filter-functions selects.
  FunctionFilter& filter() { return filter_; }
  RunInstruments& run() { return run_; }
  // Returns whether the table of times is JSON.
  bool prints_times_as_json() const;
  // The counter of passes, which takes part in the run from now on.
  std::shared_ptr<PassCounter> NumberPasses();
  // The passes of these names and numbers of runs; "*" is all. Reports what is wrong with them, and warns after the run
  // if it does not reach them.
  Result<PassFilter> FilterOf(std::vector<LocatedName> names);
  // Where the settings of the context come from.
  SettingOrigins Origins() const;
  // Take what -bisect does in runs of its own. Return whether this is such a run, which does not do it itself.
  bool TakesLimits(const RunLimits& limits);
  bool TakesSemantics(const SemanticCheckOptions& check);
  // Null unless modules are written to one after passes.
  const std::shared_ptr<DumpDir>& dump_dir() const { return dump_dir_; }
  // The limits of each run of the passes, and the semantic check of their results, for -bisect.
  const RunLimits& limits() const { return limits_; }
  const SemanticCheckOptions& semantics() const { return semantics_; }
  // Returns whether there is a pipeline without a pass, such as one of empty groups.
  bool has_no_passes() const;
  // Returns whether all passes are those of PrimFuncs, as in tir.lower.
  bool has_only_loop_passes() const;
  // Removes what an earlier run wrote to the folder of -dump-dir; does nothing after the first call.
  Status RemoveOldDumps();
  // The files besides the inputs that the run reads, as far as they are known before it.
  void AddReadFiles(OutputFiles& files) const;
  // The inputs of the run, and where their modules go.
  const std::vector<InputOutput>& pairs() const { return pairs_; }
  // After the run: warns about runs of passes that were to be printed and did not happen.
  void WarnOfUnreached();
  // Returns the mode of batch norms and dropouts. After Run.
  NetworkMode network_mode() const;
  // The pipeline and its settings as a pipeline file, and the pipeline as a string. Named pipelines are expanded.
  std::string PrintPipelineFile() const;
  // Other passes under the settings of the run, without its instruments. Paths are absolute.
  PipelineFile SettingsWith(Pipeline passes) const;
  // The settings of one pass that the run has enabled, and a context without instruments for settings.
  PipelineFile SettingsForPass(const PipelineItem& pass) const;
  PassContext ContextFor(const PipelineFile& settings) const;
  // In the form of a pipeline file.
  const std::vector<InstrumentSpec>& instruments() const { return instruments_; }
  // The settings for its own passes with its instruments.
  PipelineFile Settings() const;
  std::string PrintedPasses() const;
  // Returns the facts that a run that goes on from checkpoints must have in common with this one. Reads the input.
  Result<RunIdentity> Identity() const;

 private:
  Status ReadPipelineFile();
  Status ReadReproducer();
  Status AddSnapshots();
  Status AddCheckpoints();
  Status ReadPasses();
  Status BuildPasses();
  Result<std::vector<LocatedName>> LocateNames(const char* flag, const std::vector<std::string>& names);
  Result<std::vector<LocatedName>> ReadNames(const char* flag, const std::vector<std::string>& names);
  // Locates the texts in what follows the flag.
  Status Locate(const std::string& flag, OptionValue::List& texts);
  Status AddPassRange();
  Result<std::optional<PassPoint>> ReadPoint(const char* flag, const std::optional<std::string>& text);
  // Adds the passes of the pipeline that the regular expression matches. Returns whether there are any; reports if not.
  bool AddMatching(const LocatedName& pattern, std::vector<LocatedName>& names) const;
  Status ResolveNames(std::vector<LocatedName>& names);
  Status FillContext();
  Status FillNames();
  Status FillTarget();
  Status FillConfig();
  Result<std::vector<InstrumentSpec>> FlaggedInstruments();
  Result<InstrumentPlan> PlanInstruments();
  Status ClaimFiles(OutputFiles& files);
  Status AddInstruments();
  PassContext ContextWith(InstrumentList instruments) const;
  std::string LevelOrigin() const;
  // Warns about inputs that the output folder has; false if -Werror turns that into an error.
  bool WarnOfReplacedInputs();
  // Warns about passes in the pipeline that do not run at the level; false if -Werror turns that into an error.
  bool WarnOfSkipped();

  CompilerInstance& compiler_;
  const DriverOptions& options_;
  PassContext context_;
  PipelineFile file_;
  std::optional<Pipeline> pipeline_;
  std::optional<Pass> pass_;
  Pipeline built_;  // what pass_ was built from: named pipelines are Sequentials
  std::shared_ptr<PassCounter> counter_ = std::make_shared<PassCounter>();
  bool counts_passes_ = false;
  std::shared_ptr<DumpDir> dump_dir_;
  const CheckpointIndex* resumed_;
  FunctionFilter filter_;
  std::shared_ptr<PipelineCursor> cursor_;  // null if no instrument needs it
  std::shared_ptr<FailedPass> failed_pass_;
  std::vector<LocatedName> disabled_;  // from all sources, the command line first
  std::vector<LocatedName> required_;
  std::vector<InstrumentSpec> own_instruments_;  // with all options
  std::vector<InstrumentSpec> instruments_;
  RunLimits limits_;
  SemanticCheckOptions semantics_;
  std::shared_ptr<PassRange> range_;         // null if all passes run
  std::vector<size_t> printed_runs_;         // the numbers of those to print
  std::vector<LocatedName> printed_passes_;  // and those that are printed by name
  std::vector<InputOutput> pairs_;
  RunInstruments run_;
};

}  // namespace iropt
