#include "tune_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "driver/pipeline/pipeline_setup.h"
#include "driver/run/program.h"
#include "driver/run/scheduled_loops.h"
#include "iropt/pass/pipeline.h"
#include "iropt/schedule/database.h"
#include "iropt/support/file.h"
#include "tuner.h"

namespace iropt {

namespace {

// After this pass functions name their target, which workloads do not.
constexpr std::string_view kTargetPass = "tir.BindTarget";
constexpr std::string_view kSchedulingPass = "dl.ApplyDefaultSchedule";

// A pipeline before and after the place for a database.
struct PipelineParts {
  Pipeline before, after;
};

// The default pipeline of the level; nothing if it schedules no loops.
std::optional<PipelineParts> SchedulingPipeline(const PassRegistry& registry, int level) {
  DiagnosticBuffer messages;
  DiagnosticEngine diagnostics(&messages);
  PipelineParts parts;
  bool is_behind = false;
  for (const PipelineEntry* entry : registry.FindPipelineParts(kDefaultPipeline, level, "llvm")) {
    const std::optional<Pipeline> items = ParsePipeline(entry->passes, 0, diagnostics);
    if (!items) return std::nullopt;
    for (const PipelineItem& item : *items) {
      is_behind |= item.name == kSchedulingPass;
      (is_behind || item.name == kTargetPass ? parts.after : parts.before).push_back(item);
    }
  }
  return is_behind ? std::optional(std::move(parts)) : std::nullopt;
}

// The passes before the database.
std::optional<std::string> PassesBefore(const ProgramOptions& options, const PassRegistry& registry) {
  const auto parts = SchedulingPipeline(registry, options.driver.pipeline.opt_level.value_or(0));
  return parts ? std::optional(PrintPipeline(parts->before)) : std::nullopt;
}

// All passes, with the database.
std::optional<std::string> PassesWithDatabase(const ProgramOptions& options, const PassRegistry& registry) {
  auto parts = SchedulingPipeline(registry, options.driver.pipeline.opt_level.value_or(0));
  if (!parts) return std::nullopt;
  PipelineItem item;
  item.name = "MetaScheduleApplyDatabase";
  item.options.push_back({"work_dir", OptionValue(*options.database)});
  item.options.push_back({"skip_refused", OptionValue(true)});
  parts->before.push_back(std::move(item));
  std::ranges::move(parts->after, std::back_inserter(parts->before));
  return PrintPipeline(parts->before);
}

// The options for the passes before the search. What observes the run is not for them.
DriverOptions OptionsForTuning(const ProgramOptions& options, std::string passes) {
  const DriverOptions all = OptionsForLoops(options);
  DriverOptions driver;
  driver.compiler = all.compiler;
  driver.input = all.input;
  driver.pipeline = all.pipeline;
  driver.pipeline.passes = {std::move(passes)};
  return driver;
}

// The pass that reads them would name a place in the text of the pipeline, which is not the user's.
Status CheckFiles(const std::string& folder) {
  for (const std::string_view name : {schedule::kWorkloadFile, schedule::kRecordFile}) {
    const auto file = ReadFile((std::filesystem::path(folder) / name).string());
    if (!file.ok()) return Error(file.error());
  }
  return {};
}

}  // namespace

DriverOptions OptionsWithDatabase(const ProgramOptions& options, const PassRegistry& registry) {
  DriverOptions driver = OptionsForLoops(options);
  if (!options.database || !SchedulesLoops(options)) return driver;
  if (const auto passes = PassesWithDatabase(options, registry)) driver.pipeline.passes = {*passes};
  return driver;
}

Status TuneProgram(CompilerInstance& compiler, const ProgramOptions& options, StepProgress& progress) {
  if (!options.database) return {};
  if (options.database->empty()) return Error{ErrorCode::Usage, "flag '-tuning-database' needs the name of a folder"};
  const std::optional<std::string>& target = options.driver.pipeline.target;
  if (target && !target->starts_with("llvm")) {
    return Error{ErrorCode::Usage,
                 fmt::format("flag '-tuning-database' needs a target for CPUs, not '-target={}'", *target)};
  }
  const std::optional<std::string> passes =
      SchedulesLoops(options) ? PassesBefore(options, compiler.registry()) : std::nullopt;
  if (!passes) {
    return Error{ErrorCode::Usage,
                 "flag '-tuning-database' needs passes that schedule loops: -O3 -loops=compile, without -passes"};
  }
  if (!options.tune_seconds) return CheckFiles(*options.database);
  if (IsStandardStream(options.driver.input))
    return Error{ErrorCode::Usage, "flag '-tune' needs the module in a file: it is read twice"};
  const DriverOptions driver = OptionsForTuning(options, *passes);
  PipelineSetup setup(compiler, driver);
  IROPT_RETURN_IF_ERROR(setup.Run());
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> text, ReadFile(options.driver.input));
  LoopLibrary library;
  Program program(compiler, setup, options, library);
  IROPT_RETURN_IF_ERROR(program.Load(text));
  return Tuner(program.module(), setup.ContextForAnother(), compiler, options).Run(progress);
}

}  // namespace iropt
