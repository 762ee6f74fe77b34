#include "iropt/schedule/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "iropt/ir/structural.h"
#include "iropt/support/base64.h"
#include "iropt/support/file.h"
#include "object_graph.h"
#include "prim_func_reader.h"
#include "prim_func_writer.h"
#include "schedule/json_text.h"

namespace iropt::schedule {

namespace {

// The number that TVM's runners store in place of a time that could not be measured.
constexpr double kNoTime = 1e10;

// The base64 of TVM's streams: a length of 8 bytes before the text.
constexpr size_t kLengthBytes = 8;

Result<std::string> DecodeModule(std::string_view base64) {
  std::string bytes;
  if (!DecodeBase64(base64, bytes) || bytes.size() < kLengthBytes)
    return GraphError("the module of a workload is not base64");
  return bytes.substr(kLengthBytes);
}

std::string EncodeModule(const std::string& json) {
  std::string bytes;
  for (size_t i = 0; i < kLengthBytes; ++i) bytes += static_cast<char>(static_cast<uint64_t>(json.size()) >> (8 * i));
  std::string text;
  EncodeBase64(bytes + json, [&](std::string_view part) { text += part; });
  return text;
}

// Applies `add` to the lines that are not empty.
template <class F>
Status ForEachLine(std::string_view text, std::string_view file, F&& add) {
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (content.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const Status added = add(content);
    if (!added.ok()) return GraphError(fmt::format("{}:{}: {}", file, line, added.error().message));
  }
  return {};
}

Result<std::vector<double>> ReadSeconds(const OptionValue& value) {
  std::vector<double> seconds;
  if (value.is_null()) return seconds;
  if (!value.as_list()) return GraphError("the times of a record are not a list");
  for (const OptionValue& item : *value.as_list()) {
    const std::optional<double> number = item.as_string() ? std::nullopt : RealOf(item);
    if (!number || !std::isfinite(*number)) return GraphError("a time of a record that is not a number");
    seconds.push_back(*number);
  }
  return seconds;
}

std::string WriteRecord(const TuningRecord& record) {
  std::string seconds;
  for (const double number : record.run_secs) seconds += fmt::format("{}{:.9g}", seconds.empty() ? "" : ",", number);
  return fmt::format("[{},[{},{},{},{}]]", record.workload, ToJson(record.trace),
                     record.run_secs.empty() ? "null" : fmt::format("[{}]", seconds),
                     record.target.empty() ? "null" : record.target,
                     record.args_info.empty() ? "null" : record.args_info);
}

}  // namespace

bool TuningRecord::IsValid() const {
  const bool has_instructions = !trace.instructions.empty() && trace.instructions[0].primitive->name != "EnterPostproc";
  const auto is_time = [](double seconds) { return std::isfinite(seconds) && seconds > 0; };
  return has_instructions && std::ranges::all_of(run_secs, is_time) &&
         std::ranges::any_of(run_secs, [](double seconds) { return seconds != kNoTime; });
}

double TuningRecord::MeanSeconds() const {
  if (run_secs.empty()) return kNoTime;
  return std::accumulate(run_secs.begin(), run_secs.end(), 0.0) / static_cast<double>(run_secs.size());
}

const PrimFunc* NormalizeWorkload(const PrimFunc& func, Workspace& workspace) {
  auto* copy = workspace.New<PrimFunc>(func);
  if (!func.attrs->Find(attr::kGlobalSymbol))
    copy->attrs = copy->attrs->With(attr::kGlobalSymbol, StrAttr::Get("main"));
  copy->attrs = copy->attrs->With(attr::kNoAlias, IntAttr::Bool(true));
  return copy;
}

Result<Database> Database::Read(const std::string& folder) {
  const std::filesystem::path path(folder);
  IROPT_ASSIGN_OR_RETURN(const auto workloads, ReadFile((path / kWorkloadFile).string()));
  IROPT_ASSIGN_OR_RETURN(const auto records, ReadFile((path / kRecordFile).string()));
  return Parse(workloads->text(), records->text());
}

Result<Database> Database::Parse(std::string_view workloads, std::string_view records) {
  Database database;
  IROPT_RETURN_IF_ERROR(
      ForEachLine(workloads, kWorkloadFile, [&](std::string_view line) { return database.AddWorkloadLine(line); }));
  IROPT_RETURN_IF_ERROR(
      ForEachLine(records, kRecordFile, [&](std::string_view line) { return database.AddRecordLine(line); }));
  return database;
}

Status Database::AddWorkloadLine(std::string_view line) {
  IROPT_ASSIGN_OR_RETURN(const OptionValue json, ParseJson(line));
  const OptionValue::List* parts = json.as_list();
  if (!parts || parts->size() != 2 || !(*parts)[0].as_string() || !(*parts)[1].as_string())
    return GraphError("a workload should be a pair of a hash and a module");
  IROPT_ASSIGN_OR_RETURN(const std::string text, DecodeModule(*(*parts)[1].as_string()));
  IROPT_ASSIGN_OR_RETURN(const ObjectGraph graph, ObjectGraph::Parse(text));
  Result<Workload> workload = ReadWorkload(graph);
  if (workload) {
    by_hash_[StructuralHash(workload->func, {.map_free_vars = true})].push_back(workloads_.size());
  } else {
    skipped_.push_back(fmt::format("workload {}: {}", workloads_.size(), workload.error().message));
  }
  workloads_.push_back(workload ? *std::move(workload) : Workload());
  workload_lines_.emplace_back(line);
  return {};
}

Status Database::AddRecordLine(std::string_view line) {
  IROPT_ASSIGN_OR_RETURN(const OptionValue json, ParseJson(line));
  const OptionValue::List* pair = json.as_list();
  const OptionValue::List* parts = pair && pair->size() == 2 ? (*pair)[1].as_list() : nullptr;
  const int64_t* index = parts ? (*pair)[0].as_int() : nullptr;
  if (!parts || parts->size() != 4 || !index)
    return GraphError("a record should be a pair of the index of a workload and [trace, run_secs, target, args_info]");
  if (*index < 0 || static_cast<size_t>(*index) >= workloads_.size())
    return GraphError(fmt::format("a record of workload {}, which does not exist", *index));
  if (!workloads_[static_cast<size_t>(*index)].func) {
    left_out_.emplace_back(line);
    return {};
  }
  TuningRecord record;
  record.workload = static_cast<size_t>(*index);
  IROPT_ASSIGN_OR_RETURN(record.trace, ReadTraceJson((*parts)[0]));
  IROPT_ASSIGN_OR_RETURN(record.run_secs, ReadSeconds((*parts)[1]));
  record.target = ToJson((*parts)[2]);
  record.args_info = ToJson((*parts)[3]);
  records_.push_back(std::move(record));
  return {};
}

std::optional<size_t> Database::Find(const PrimFunc& workload) const {
  const auto* same = by_hash_.Find(StructuralHash(&workload, {.map_free_vars = true}));
  if (!same) return std::nullopt;
  for (const size_t index : *same) {
    if (StructuralEqual(workloads_[index].func, &workload, {.map_free_vars = true})) return index;
  }
  return std::nullopt;
}

const TuningRecord* Database::Best(size_t workload) const {
  const TuningRecord* best = nullptr;
  for (const TuningRecord& record : records_) {
    if (record.workload != workload || !record.IsValid()) continue;
    if (!best || record.MeanSeconds() < best->MeanSeconds()) best = &record;
  }
  return best;
}

size_t Database::AddWorkload(Workload workload) {
  const auto* func = To<PrimFunc>(workload.func);
  if (const std::optional<size_t> known = Find(*func)) return *known;
  by_hash_[StructuralHash(func, {.map_free_vars = true})].push_back(workloads_.size());
  workloads_.push_back(std::move(workload));
  workload_lines_.emplace_back();
  return workloads_.size() - 1;
}

Status Database::Write(const std::string& folder) const {
  std::string workloads, records;
  for (size_t i = 0; i < workloads_.size(); ++i) {
    if (!workload_lines_[i].empty()) {
      workloads += workload_lines_[i] + '\n';
      continue;
    }
    IROPT_ASSIGN_OR_RETURN(const std::string json, WriteWorkload(*To<PrimFunc>(workloads_[i].func)));
    const uint64_t hash = StructuralHash(workloads_[i].func, {.map_free_vars = true});
    workloads += fmt::format("[\"{}\", \"{}\"]\n", hash, EncodeModule(json));
  }
  for (const TuningRecord& record : records_) records += WriteRecord(record) + '\n';
  for (const std::string& line : left_out_) records += line + '\n';
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return GraphError(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  const std::filesystem::path path(folder);
  IROPT_ASSIGN_OR_RETURN(AtomicFile workload_file, AtomicFile::Create((path / kWorkloadFile).string()));
  IROPT_ASSIGN_OR_RETURN(AtomicFile record_file, AtomicFile::Create((path / kRecordFile).string()));
  workload_file.stream().Append(workloads);
  record_file.stream().Append(records);
  IROPT_RETURN_IF_ERROR(workload_file.Finish());
  IROPT_RETURN_IF_ERROR(record_file.Finish());
  IROPT_RETURN_IF_ERROR(workload_file.Commit());
  return record_file.Commit();
}

}  // namespace iropt::schedule
