// MetaScheduleApplyDatabase: applies the best traces of a tuning database.
//
//   work_dir/database_workload.json         functions that were tuned
//   work_dir/database_tuning_record.json    traces for them, with the times of their runs
//
//   @T.prim_func                            @T.prim_func
//   def main(...):                          def main(...):
//       for i in range(128):          -->       T.func_attr({"tir.is_scheduled": T.bool(True)})
//           with T.block("B"):                  for i_0 in range(8):
//               ...                                 for i_1 in T.vectorized(16):
//                                                       with T.block("B"): ...
//
// A PrimFunc that is equal to one of the database by structure, whatever the names of its blocks and variables, becomes
// the scheduled one, and keeps its attributes. Of several records the one with the least mean time counts; those
// without a time do not. Without `work_dir`, the database is empty. With `enable_warning`, functions without a record
// are reported. Blocks keep the names that they have in the database. The cost is that of reading the database, of
// hashing the functions, and of the primitives.
//
// Source: TVM's src/relax/transform/meta_schedule.cc.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/location.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/applied_trace.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/schedule/database.h"
#include "iropt/schedule/schedule.h"
#include "iropt/support/file.h"
#include "iropt/support/folder_lock.h"
#include "iropt/transform/options/MetaScheduleApplyDatabase.h"
#include "transform/tir/schedule/run_schedule.h"

namespace iropt {

namespace {

// The files of the folder that an option names; null after an error.
struct DatabaseFiles {
  std::shared_ptr<const FileBuffer> workloads, records;
  SourceSpan span;  // of the option

  bool ok() const { return workloads && records; }
};

DatabaseFiles ReadFiles(const PassOptions& options) {
  const pass_options::MetaScheduleApplyDatabase given(options);
  const std::string& folder = *given.work_dir;
  DatabaseFiles files{nullptr, nullptr, given.work_dir.span()};
  if (folder.empty()) {
    files.workloads = files.records = std::make_shared<const FileBuffer>(std::string());
    return files;
  }
  const auto read = [&](std::string_view name) -> std::shared_ptr<const FileBuffer> {
    auto file = ReadFile((std::filesystem::path(folder) / name).string());
    if (file) return *std::move(file);
    options.diagnostics().Error(files.span, "file", file.error().message);
    return nullptr;
  };
  // Both files of one moment, where a search replaces them. Without locks they are read nevertheless.
  const FolderLock lock(folder, FolderLock::Use::kRead);
  files.workloads = read(schedule::kWorkloadFile);
  if (files.workloads) files.records = read(schedule::kRecordFile);
  return files;
}

class DatabaseApplier {
 public:
  DatabaseApplier(const schedule::Database& database, schedule::IntrinsicTable& intrinsics, ModulePassContext& context,
                  bool skip_refused)
      : database_(database), intrinsics_(intrinsics), context_(context), skip_refused_(skip_refused) {}

  // The module with the function scheduled, if it has a record.
  Result<Module> Apply(Module module, const GlobalVar* var, bool warn) const {
    const ModuleEntry& entry = *module.Find(var);
    const auto& func = *To<PrimFunc>(entry.func);
    const schedule::TuningRecord* record = RecordOf(module, entry);
    if (!record) {
      if (warn)
        context_.diagnostics.Warning(Location(func), "no-record",
                                     fmt::format("no tuning record is found for the function '{}'", var->name));
      return module;
    }
    const schedule::Workload& workload = database_.workloads()[record->workload];
    DiagnosticBuffer messages;
    DiagnosticEngine buffered(&messages);
    DiagnosticEngine& diagnostics = skip_refused_ ? buffered : context_.diagnostics;
    Result<ModuleEntry> scheduled = Schedule(workload, *record, var, module.version(), Location(func), diagnostics);
    if (!scheduled.ok() && skip_refused_) {
      WarnOfRefusal(func, var, scheduled.error(), messages);
      return module;
    }
    if (!scheduled.ok()) return scheduled.TakeError();
    Workspace workspace(module, scheduled->storage);
    auto* result = workspace.New<PrimFunc>(*To<PrimFunc>(scheduled->func));
    result->attrs = func.attrs->With(attr::kIsScheduled, IntAttr::Bool(true));
    result->type = PrimFuncType(result);
    result->set_span(func.span());
    module.Set(var, result, workspace.Finish());
    return module;
  }

 private:
  // Null if there is none.
  const schedule::TuningRecord* RecordOf(const Module& module, const ModuleEntry& entry) const {
    Workspace workspace(module, entry.storage);
    const auto found = database_.Find(*schedule::NormalizeWorkload(*To<PrimFunc>(entry.func), workspace));
    return found ? database_.Best(*found) : nullptr;
  }

  void WarnOfRefusal(const PrimFunc& func, const GlobalVar* var, const Error& error,
                     const DiagnosticBuffer& messages) const {
    const bool is_told = error.reported() && !messages.diagnostics().empty();
    context_.diagnostics.Warning(
        Location(func), "database-entry",
        fmt::format("the tuning record for the function '{}' is left out, because its trace cannot be applied: {}",
                    var->name, is_told ? messages.diagnostics().front().message : error.message));
  }

  // The function of the database with the trace applied. `place` is that of the function of the module.
  Result<ModuleEntry> Schedule(const schedule::Workload& workload, const schedule::TuningRecord& record,
                               const GlobalVar* var, TextVersion version, SourceSpan place,
                               DiagnosticEngine& diagnostics) const {
    Module module;
    module.set_text_version(version);
    module.Set(workload.var, workload.func, workload.storage);
    schedule::Schedule sch(std::move(module), &intrinsics_);
    const DiagnosticContext note(diagnostics, SourceSpan(),
                                 fmt::format("in the tuning record for the function '{}'", var->name));
    IROPT_RETURN_IF_ERROR(ApplyTrace(record.trace, sch, context_.context, diagnostics));
    if (WantsTraces()) ReportTrace(fmt::format("the function '{}'", var->name), schedule::ToPython(sch.trace()));
    const Module scheduled = sch.Finish();
    const ModuleEntry& entry = scheduled.functions()[0];
    IROPT_RETURN_IF_ERROR(CheckParams(*To<PrimFunc>(workload.func), *To<PrimFunc>(entry.func), place, diagnostics));
    return entry;
  }

  // Callers pass what the function took before: its buffers must have kept their shapes and types.
  static Status CheckParams(const PrimFunc& before, const PrimFunc& after, SourceSpan place,
                            DiagnosticEngine& diagnostics) {
    for (uint32_t i = 0; i < before.param_buffers.size(); ++i) {
      const tir::Buffer* was = before.param_buffers[i];
      const tir::Buffer* is = after.param_buffers[i];
      if (was == is || (was && is && was->dtype == is->dtype && DeepEqual(was->shape, is->shape))) continue;
      diagnostics.Error(place, "schedule",
                        fmt::format("the trace changes the buffer of parameter {}, which callers pass", i));
      return Failure{ErrorCode::PassFailed};
    }
    return {};
  }

  const schedule::Database& database_;
  schedule::IntrinsicTable& intrinsics_;
  ModulePassContext& context_;
  const bool skip_refused_;
};

}  // namespace

Pass CreateMetaScheduleApplyDatabase(const PassOptions& options) {
  const pass_options::MetaScheduleApplyDatabase given(options);
  const DatabaseFiles files = ReadFiles(options);
  const auto intrinsics = std::make_shared<TensorIntrinsics>(options, given.intrinsics);
  return CreateModulePass(
      options.info(),
      [files, intrinsics, folder = *given.work_dir, warn = *given.enable_warning, skip_refused = *given.skip_refused](
          Module module, ModulePassContext& context) -> Result<Module> {
        if (!files.ok()) return Failure{ErrorCode::PassFailed};
        const auto database = schedule::Database::Parse(files.workloads->text(), files.records->text());
        if (!database) {
          context.diagnostics.Error(
              SourceSpan(), "bad-database",
              fmt::format("the tuning database in '{}' cannot be read: {}", folder, database.error().message));
          return Failure{ErrorCode::PassFailed};
        }
        for (const std::string& reason : database->skipped())
          context.diagnostics.Warning(
              SourceSpan(), "database-entry",
              fmt::format("an entry of the tuning database in '{}' is left out: {}", folder, reason));
        const DatabaseApplier applier(*database, *intrinsics, context, skip_refused);
        std::vector<const GlobalVar*> vars;
        for (const ModuleEntry& entry : module.functions()) {
          if (Is<PrimFunc>(entry.func)) vars.push_back(entry.var);
        }
        for (const GlobalVar* var : vars) {
          IROPT_ASSIGN_OR_RETURN(module, applier.Apply(std::move(module), var, warn));
        }
        return module;
      });
}

}  // namespace iropt
