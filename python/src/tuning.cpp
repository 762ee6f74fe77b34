#include "tuning.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "iropt/observe/output_files.h"
#include "iropt/schedule/database.h"
#include "iropt/schedule/schedule.h"
#include "iropt/schedule/trace.h"
#include "iropt/schedule/tuning.h"
#include "iropt/support/folder_lock.h"
#include "module.h"
#include "values.h"

namespace iropt::python {

namespace {

const TargetAttr* TargetOf(const py::object& target, Build& build) {
  const auto* found = As<TargetAttr>(ToNode(target, build, "a target"));
  if (found == nullptr) throw py::type_error("expected a target");
  return found;
}

// The traces, in JSON, of the choices of the rule for CPUs for a function of a module, each once, those that should be
// tried first first.
std::vector<std::string> TileTraces(const PyModule& module, const std::string& function, const py::object& target) {
  Build build;
  const TargetAttr* attr = TargetOf(target, build);
  std::vector<std::string> traces;
  const py::gil_scoped_release unlocked;
  for (const schedule::TileChoice& choice : schedule::TileChoices(*attr)) {
    schedule::Schedule sch(module.module());
    if (!schedule::ApplyTileChoice(choice, sch, function, *attr)) continue;
    std::string trace = schedule::ToJson(schedule::Simplify(sch.trace()));
    if (std::ranges::find(traces, trace) == traces.end()) traces.push_back(std::move(trace));
  }
  return traces;
}

// The function of a name, as a database has it.
schedule::Workload WorkloadOf(const PyModule& module, const std::string& function) {
  const ModuleEntry* entry = module.module().Find(function);
  const auto* func = entry == nullptr ? nullptr : As<PrimFunc>(entry->func);
  if (func == nullptr) throw py::key_error("the module has no PrimFunc '" + function + "'");
  Workspace workspace(module.module(), entry->storage);
  const PrimFunc* normalized = schedule::NormalizeWorkload(*func, workspace);
  return {GlobalVar::Get("main"), normalized, workspace.Finish()};
}

Result<schedule::Database> ReadFolder(const std::string& folder) {
  const std::filesystem::path path(folder);
  if (!std::filesystem::exists(path / schedule::kWorkloadFile) && !std::filesystem::exists(path / schedule::kRecordFile))
    return schedule::Database();
  return schedule::Database::Read(folder);
}

// Adds a measured schedule of a function to the database of a folder, which is made if needed.
void AddTuningRecord(const std::string& folder, const PyModule& module, const std::string& function,
                     const std::string& trace, std::vector<double> seconds, std::string target, std::string args_info) {
  Build build;
  const Log log(build.session().sources());
  log.Check(MakeOutputFolder(folder));
  const FolderLock lock(folder, FolderLock::Use::kWrite);
  log.Check(lock.status());
  schedule::Database database = log.Check(ReadFolder(folder));
  const size_t workload = database.AddWorkload(WorkloadOf(module, function));
  database.AddRecord({.workload = workload,
                      .trace = log.Check(schedule::ReadTrace(trace)),
                      .run_secs = std::move(seconds),
                      .target = std::move(target),
                      .args_info = std::move(args_info)});
  log.Check(database.Write(folder));
}

// The records of the database of a folder that are valid: (module with the function "main", trace in JSON, seconds of
// its runs, target in JSON), of one function if a module is given.
py::list TuningRecords(const std::string& folder, const PyModule* module, const std::string& function) {
  Build build;
  const Log log(build.session().sources());
  const schedule::Database database = log.Check(ReadFolder(folder));
  std::optional<size_t> wanted;
  if (module != nullptr) {
    wanted = database.Find(*To<PrimFunc>(WorkloadOf(*module, function).func));
    if (!wanted) return py::list();
  }
  py::list records;
  for (const schedule::TuningRecord& record : database.records()) {
    const schedule::Workload& workload = database.workloads()[record.workload];
    if (!record.IsValid() || workload.func == nullptr || (wanted && record.workload != *wanted)) continue;
    Module copy;
    copy.Set(workload.var, workload.func, workload.storage);
    records.append(py::make_tuple(PyModule(std::move(copy), build.shared_session()), schedule::ToJson(record.trace),
                                  record.run_secs, record.target));
  }
  return records;
}

}  // namespace

void AddTuning(py::module_& m) {
  m.def("tile_traces", &TileTraces);
  m.def("add_tuning_record", &AddTuningRecord);
  m.def("tuning_records", &TuningRecords, py::arg("folder"), py::arg("module").none(true), py::arg("function"));
}

}  // namespace iropt::python
