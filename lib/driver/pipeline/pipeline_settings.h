// The pipeline of a run and the settings of its context, from the command line and the pipeline file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/pipeline/pipeline_trace.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/driver_options.h"
#include "iropt/observe/checkpoints.h"
#include "iropt/observe/output_files.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pipeline.h"
#include "iropt/pass/pipeline_cursor.h"
#include "iropt/semantics/semantic_check.h"

namespace iropt {

class PipelineSettings {
 public:
  // Both must outlive it.
  PipelineSettings(CompilerInstance& compiler, const DriverOptions& options)
      : compiler_(compiler), options_(options), context_(compiler.MakeContext()) {}

  // Reads the pipeline and fills the context, which gets no instruments.
  Status Read();
  // Warns about passes in the pipeline that do not run at the level; false if -Werror turns that into an error.
  bool WarnOfSkipped() const;

  // ---- After Read
  PassContext& context() { return context_; }
  const PassContext& context() const { return context_; }
  // Null if there is nothing to run.
  const Pass* pass() const { return pass_ ? &*pass_ : nullptr; }
  // The pipeline with the passes of named pipelines, at the level of the run.
  Pipeline Expanded() const { return ExpandPipeline(*pipeline_, compiler_.registry(), context_.opt_level, &context_); }
  // Replaces named pipelines by their passes from now on.
  void Expand() { pipeline_ = Expanded(); }
  // Returns whether there is a pipeline without a pass, such as one of empty groups.
  bool has_no_passes() const;
  // Returns whether all passes are those of PrimFuncs, as in tir.lower.
  bool has_only_loop_passes() const;
  // Follows a run of the pipeline in a context that has it.
  std::shared_ptr<PipelineCursor> MakeCursor() const;
  // Limits the bytes of the constants of a module that was read: by how many they may grow, in addition to 1 %; -1: by
  // any number. What the user says takes precedence.
  void LimitConstants(const Module& module, int64_t max_growth);
  // Returns the mode of batch norms and dropouts.
  NetworkMode network_mode() const;
  // Where the settings of the context come from.
  SettingOrigins Origins() const;
  // Those that the pipeline file names.
  const std::vector<InstrumentSpec>& instruments() const { return file_.instruments; }
  // Replaces names and regular expressions by the names of passes. Reports what is wrong with them.
  Status ResolveNames(std::vector<LocatedName>& names) const;
  // The names of passes that follow the flag.
  Result<std::vector<LocatedName>> ReadNames(const char* flag, const std::vector<std::string>& names) const;
  // The files besides the inputs that the run reads, as far as they are known before it.
  void AddReadFiles(OutputFiles& files) const;

  // ---- As a pipeline file, without instruments; paths are absolute
  PipelineFile All() const { return With(pipeline_.value_or(Pipeline())); }
  // Other passes under these settings.
  PipelineFile With(Pipeline passes) const;
  // The settings of one pass that the run has enabled, and a context for settings.
  PipelineFile ForPass(const PipelineItem& pass) const;
  PassContext ContextFor(const PipelineFile& settings) const;
  std::string PrintedPasses() const;
  // Returns the facts that a run that goes on from checkpoints must have in common with this one. Reads the input.
  Result<RunIdentity> Identity() const;

 private:
  Status ReadPipelineFile();
  Status ReadReproducer();
  Status ReadPasses();
  // Of the run: that of the command line, else that of the pipeline file.
  int Level() const;
  Result<Pipeline> ReadPipelineText(const std::string& text);
  Status FillContext();
  Status FillTarget();
  Status FillConfig();
  Status BuildPasses();
  Status FillNames();
  // Adds the passes of the pipeline that the regular expression matches. Returns whether there are any; reports if not.
  bool AddMatching(const LocatedName& pattern, std::vector<LocatedName>& names) const;
  std::string LevelOrigin() const;

  CompilerInstance& compiler_;
  const DriverOptions& options_;
  PassContext context_;
  PipelineFile file_;
  std::optional<Pipeline> pipeline_;
  std::optional<Pass> pass_;
  Pipeline built_;                     // what pass_ was built from: named pipelines are Sequentials
  std::vector<LocatedName> disabled_;  // from all sources, the command line first
  std::vector<LocatedName> required_;
  std::optional<int64_t> stated_bytes_;  // of constants, as the user says it
};

}  // namespace iropt
