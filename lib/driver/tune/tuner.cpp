#include "tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/observe/output_files.h"
#include "iropt/pass/option_value.h"
#include "iropt/pass/timing.h"
#include "iropt/schedule/schedule.h"
#include "iropt/schedule/tuning.h"
#include "iropt/support/folder_lock.h"

namespace iropt {

namespace {

OptionValue ToOption(const Attr* attr) {
  if (const auto* text = As<StrAttr>(attr)) return text->value;
  if (const auto* number = As<IntAttr>(attr)) {
    if (number->dtype.is_bool()) return number->value != 0;
    return number->value;
  }
  if (const auto* list = As<ListAttr>(attr)) {
    OptionValue::List items;
    for (const Attr* item : list->values) items.push_back(ToOption(item));
    return items;
  }
  std::vector<OptionValue::Entry> entries;
  if (const auto* dict = As<DictAttr>(attr)) {
    for (uint32_t i = 0; i < dict->size(); ++i)
      entries.push_back({std::string(dict->keys[i]), ToOption(dict->values[i])});
  }
  return entries;
}

// ["TENSOR", dtype, shape] for each parameter.
std::string ArgumentsOf(const PrimFunc& func) {
  OptionValue::List args;
  for (const tir::Buffer* buffer : func.param_buffers) {
    OptionValue::List shape;
    for (const PrimExpr* dim : buffer->shape) shape.emplace_back(*arith::AsInt(dim));
    args.emplace_back(OptionValue::List{"TENSOR", buffer->dtype.ToString(), shape});
  }
  return ToJson(OptionValue(args));
}

// Empty where neither file exists. Where one of them is missing, reading fails, so that the other one stays as it is.
Result<schedule::Database> ReadIfThere(const std::string& folder) {
  const auto exists = [&](std::string_view name) {
    return std::filesystem::exists(std::filesystem::path(folder) / name);
  };
  if (!exists(schedule::kWorkloadFile) && !exists(schedule::kRecordFile)) return schedule::Database();
  return schedule::Database::Read(folder);
}

}  // namespace

Tuner::Tuner(const Module& module, const PassContext& context, CompilerInstance& compiler,
             const ProgramOptions& options)
    : module_(module), context_(context), compiler_(compiler), options_(options) {}

Status Tuner::Run(StepProgress& progress) {
  const std::string& folder = *options_.database;
  const Stopwatch watch;
  // Without a compiler nothing is written.
  if (const auto loops = codegen::LoopCompiler::Load(); !loops.ok()) return loops.error();
  IROPT_RETURN_IF_ERROR(MakeOutputFolder(folder));
  {
    const FolderLock lock(folder, FolderLock::Use::kWrite);
    IROPT_RETURN_IF_ERROR(lock.status());
    // A database without records is one, too.
    IROPT_ASSIGN_OR_RETURN(const schedule::Database database, ReadIfThere(folder));
    IROPT_RETURN_IF_ERROR(database.Write(folder));
  }
  const std::vector<TuningTask> tasks = FindTuningTasks(module_);
  double work = 0;
  for (const TuningTask& task : tasks) work += task.work;
  size_t number = 0;
  for (const TuningTask& task : tasks) {
    const double rest = *options_.tune_seconds - watch.Read().wall_seconds;
    if (rest <= 0) break;
    progress.SetStepOf(fmt::format("tuning {}, function {} of {}", task.var->name, ++number, tasks.size()), rest);
    IROPT_RETURN_IF_ERROR(TuneTask(task, work > 0 ? rest * task.work / work : rest));
    work -= task.work;
  }
  return {};
}

Status Tuner::TuneTask(const TuningTask& task, double seconds) {
  const Stopwatch watch;
  // A compiler keeps all code that it has made: each function has its own one.
  IROPT_ASSIGN_OR_RETURN(std::shared_ptr<codegen::LoopCompiler> loops, codegen::LoopCompiler::Load());
  TaskRunner runner(task, context_, compiler_, std::move(loops), options_);
  const Result<double> unscheduled = runner.RunUnscheduled();
  if (!unscheduled.ok()) {
    compiler_.err().Append(fmt::format("not tuned: {}, which cannot be run by itself: {}\n", task.var->name,
                                       runner.Explain(unscheduled.error())));
    return compiler_.err().Flush();
  }
  Search search{.seconds = *unscheduled};
  double slowest = 0;
  for (const schedule::TileChoice& choice : schedule::TileChoices(*context_.target)) {
    const double begin = watch.Read().wall_seconds;
    // The rule's own choice is tried in any case.
    if (search.tried > 0 && begin + slowest > seconds) break;
    IROPT_RETURN_IF_ERROR(TryCandidate(task, choice, runner, search));
    slowest = std::max(slowest, watch.Read().wall_seconds - begin);
  }
  return Tell(task, search, *unscheduled);
}

Status Tuner::TryCandidate(const TuningTask& task, const schedule::TileChoice& choice, TaskRunner& runner,
                           Search& search) {
  Module module;
  module.set_text_version(task.piece.version());
  module.Set(task.workload.var, task.workload.func, task.workload.storage);
  schedule::Schedule sch(std::move(module));
  if (!schedule::ApplyTileChoice(choice, sch, task.workload.var->name, *context_.target)) return {};
  schedule::Trace trace = schedule::Simplify(sch.trace());
  if (!search.traces.insert(schedule::ToPython(trace))) return {};
  ++search.tried;
  const Module scheduled = sch.Finish();
  const ModuleEntry& entry = scheduled.functions()[0];
  const Result<double> seconds = runner.RunScheduled(*To<PrimFunc>(entry.func), entry.storage);
  if (!seconds.ok() || *seconds >= search.seconds) return {};
  search.seconds = *seconds;
  search.description = Describe(choice);
  return Keep(task, std::move(trace), search);
}

Status Tuner::Keep(const TuningTask& task, schedule::Trace trace, Search& search) {
  const auto& func = *To<PrimFunc>(task.workload.func);
  const std::string& folder = *options_.database;
  const FolderLock lock(folder, FolderLock::Use::kWrite);
  IROPT_RETURN_IF_ERROR(lock.status());
  IROPT_ASSIGN_OR_RETURN(schedule::Database database, ReadIfThere(folder));
  const size_t workload = database.AddWorkload(task.workload);
  const schedule::TuningRecord* known = database.Best(workload);
  if (known && known->MeanSeconds() <= search.seconds) return {};
  const auto is_kept = [&](const schedule::TuningRecord& other) {
    return !search.kept.empty() && other.workload == workload && schedule::ToPython(other.trace) == search.kept;
  };
  const auto kept = std::ranges::find_if(database.records(), is_kept);
  const auto index = static_cast<size_t>(kept - database.records().begin());
  std::string text = schedule::ToPython(trace);
  schedule::TuningRecord record{.workload = workload,
                                .trace = std::move(trace),
                                .run_secs = {search.seconds},
                                .target = ToJson(ToOption(context_.target->config)),
                                .args_info = ArgumentsOf(func)};
  if (kept != database.records().end()) {
    database.ReplaceRecord(index, std::move(record));
  } else {
    database.AddRecord(std::move(record));
  }
  search.kept = std::move(text);
  return database.Write(folder);
}

Status Tuner::Tell(const TuningTask& task, const Search& search, double unscheduled) {
  constexpr double kMilliseconds = 1e3;
  std::string result = "none is better";
  if (!search.description.empty())
    result = fmt::format("{:.3g} ms with {}", search.seconds * kMilliseconds, search.description);
  compiler_.err().Append(fmt::format("tuned {}: {} candidate{}, {:.3g} ms without a schedule, {}\n", task.var->name,
                                     search.tried, search.tried == 1 ? "" : "s", unscheduled * kMilliseconds, result));
  return compiler_.err().Flush();
}

}  // namespace iropt
