// Builds the pipeline, its context and the instruments from the options.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bisect/failure_point.h"
#include "instruments.h"
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
#include "iropt/pass/rewrite_limits.h"
#include "iropt/semantics/semantic_check.h"
#include "output_paths.h"
#include "pipeline_trace.h"
#include "run_observers.h"

namespace iropt {

class PipelineSetup {
 public:
  // Both must outlive it.
  // `resumed` has the checkpoints of a run that goes on; null for a run from the beginning.
  PipelineSetup(CompilerInstance& compiler, const DriverOptions& options, const CheckpointIndex* resumed = nullptr);

  // Reads the pipeline and fills the context.
  Status Run();

  PassContext& context() { return context_; }
  // Returns a copy of the context for a run besides the traced one: without trace(), semantic_check(), dumps and
  // checkpoints.
  PassContext UntracedContext() const;
  // Returns a copy of the context with a check after every pass, and of the instruments only with those that decide
  // what runs.
  PassContext CheckingContext() const;
  // Follows a run of the pipeline in a context that has it.
  std::shared_ptr<PipelineCursor> MakeCursor() const;
  // The pass that has failed last, unless it was taken. Null unless there is a reproducer to write.
  FailedPass* failed_pass() { return failed_pass_.get(); }
  // Returns whether context() checks after every pass.
  bool verifies_each() const { return verifies_each_; }
  // Null if there is nothing to run.
  const Pass* pass() const { return pass_ ? &*pass_ : nullptr; }
  // The functions that -filter-functions selects.
  FunctionFilter& filter() { return filter_; }
  RunObservers& observers() { return observers_; }
  // The limits of each run of the passes. -bisect runs them in other processes, for which they hold, not for this one.
  const RunLimits& limits() const { return limits_; }
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
  // After the run: tells how many rewrites passes with limits made, and warns about runs of passes that were to be
  // printed and did not happen.
  void ReportRewrites();
  void WarnOfUnreached();
  // Returns the mode of batch norms and dropouts. After Run.
  NetworkMode network_mode() const;
  // Null unless the options request it.
  SemanticCheck* semantic_check() { return semantic_check_.get(); }
  PipelineTrace* trace() { return trace_.get(); }
  // The pipeline and its settings as a pipeline file, and the pipeline as a string. Named pipelines are expanded.
  std::string PrintPipelineFile() const;
  // Other passes under the settings of the run, without its instruments. Paths are absolute.
  PipelineFile SettingsWith(Pipeline passes) const;
  // The settings of one pass that the run has enabled, and a context without instruments for settings.
  PipelineFile SettingsForPass(const PipelineItem& pass) const;
  PassContext ContextFor(const PipelineFile& settings) const;
  const std::vector<InstrumentSpec>& instruments() const { return instruments_; }
  // The settings for its own passes with its instruments.
  PipelineFile Settings() const;
  std::string PrintPipeline() const;
  // Returns the facts that a run that goes on from checkpoints must have in common with this one. Reads the input.
  Result<RunIdentity> Identity() const;

 private:
  Status ReadPipelineFile();
  Status ReadReproducer();
  Status AddPositionalInstruments();
  Status AddCheckpoints(const std::shared_ptr<PipelineCursor>& cursor);
  Status ReadPasses();
  Status BuildPasses();
  Result<std::vector<LocatedName>> LocateNames(const char* flag, const std::vector<std::string>& names);
  Result<std::vector<LocatedName>> ReadNames(const char* flag, const std::vector<std::string>& names);
  // Names of passes and numbers of runs.
  Status CheckPrinted(std::vector<LocatedName> names);
  Result<PassFilter> FilterOf(const PrintRequest& request) const;
  Status AddRewriteLimits(const InstrumentPlan& plan);
  Status AddPassRange();
  Result<std::optional<PassPoint>> ReadPoint(const char* flag, const std::optional<std::string>& text);
  // Adds the passes of the pipeline that the regular expression matches. Returns whether there are any; reports if not.
  bool AddMatching(const LocatedName& pattern, std::vector<LocatedName>& names) const;
  Status ResolveNames(std::vector<LocatedName>& names);
  Status FillContext();
  Status FillNames();
  Status FillTarget();
  Status FillConfig();
  Result<InstrumentPlan> PlanInstruments();
  Status ClaimFiles(OutputFiles& files);
  Status AddInstruments();
  void AddTrace();
  void ShowBisectStep(const BisectStep& step, bool runs);
  // Return the bisection and the limits of rewrites for another run, which begins to count again, without lines.
  std::shared_ptr<PassInstrument> AnotherBisect() const;
  std::shared_ptr<PassInstrument> AnotherRewriteLimits() const;
  SettingOrigins Origins() const;
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
  std::shared_ptr<DumpDir> dump_dir_;
  const CheckpointIndex* resumed_;
  InstrumentList checkpoints_;  // that write them
  FunctionFilter filter_;
  std::shared_ptr<PipelineCursor> cursor_;  // null if no instrument needs it
  std::shared_ptr<FailedPass> failed_pass_;
  std::vector<LocatedName> disabled_;  // from all sources, the command line first
  std::vector<LocatedName> required_;
  std::vector<InstrumentSpec> instruments_;
  RunLimits limits_;
  std::optional<int64_t> bisect_limit_;
  std::shared_ptr<PassInstrument> bisect_;  // of context(), if there is a limit
  std::vector<RewriteLimit> limits_of_rewrites_;
  std::shared_ptr<RewriteLimits> rewrite_limits_;  // of context(); null if there are none
  std::shared_ptr<PassRange> range_;               // null if all passes run
  std::vector<size_t> printed_runs_;               // the numbers of those to print
  std::vector<LocatedName> printed_passes_;        // and those that are printed by name
  bool verifies_each_ = false;
  std::shared_ptr<SemanticCheck> semantic_check_;
  std::shared_ptr<PipelineTrace> trace_;
  std::vector<InputOutput> pairs_;
  RunObservers observers_;
};

}  // namespace iropt
