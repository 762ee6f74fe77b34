#include "iropt/observe/checkpoints.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "iropt/support/data_hash.h"
#include "iropt/support/file.h"
#include "iropt/support/version.h"

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;

std::string IndexPath(const std::string& folder) { return folder + "/checkpoints.json"; }

Error CannotResume(const std::string& folder, std::string_view reason) {
  return {ErrorCode::Usage, fmt::format("cannot resume from the checkpoints in '{}': {}", folder, reason)};
}

}  // namespace

RunIdentity RunIdentity::Of(std::string_view input, std::string pipeline) {
  const DataHash hash = HashData(std::as_bytes(std::span(input.data(), input.size())));
  return {.version = IROPT_VERSION, .input = hash.ToString(), .pipeline = std::move(pipeline)};
}

Result<CheckpointIndex> CheckpointIndex::Read(const std::string& folder) {
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> text, ReadFile(IndexPath(folder)));
  try {
    const Json json = Json::parse(text->text());
    CheckpointIndex index;
    index.run = {json.at("version"), json.at("input"), json.at("pipeline")};
    index.passes_done = json.at("passes_done");
    for (const Json& entry : json.at("checkpoints")) index.entries.push_back({entry.at("pass"), entry.at("file")});
    return index;
  } catch (const Json::exception&) {
    return CannotResume(folder, "checkpoints.json is damaged");
  }
}

Status CheckpointIndex::Write(const std::string& folder) const {
  Json checkpoints = Json::array();
  for (const Entry& entry : entries) checkpoints.push_back({{"pass", entry.number}, {"file", entry.file}});
  const Json json = {{"version", run.version},
                     {"input", run.input},
                     {"pipeline", run.pipeline},
                     {"passes_done", passes_done},
                     {"checkpoints", std::move(checkpoints)}};
  return WriteFileAtomically(IndexPath(folder), [&](OutputStream& out) {
    out.Append(json.dump(2, ' ', false, Json::error_handler_t::replace));
    out.Append('\n');
    return out.Flush();
  });
}

Status CheckpointIndex::ResumeFrom(size_t first, const RunIdentity& identity, const std::string& folder) {
  if (run.version != identity.version) {
    return CannotResume(folder, fmt::format("they are of ir-opt {}, this is {}", run.version, identity.version));
  }
  if (run.input != identity.input) return CannotResume(folder, "the input is not the one that they were made from");
  if (run.pipeline != identity.pipeline) {
    return CannotResume(folder, "the pipeline or its settings are not those that they were made with");
  }
  if (first > passes_done + 1) {
    return CannotResume(folder, fmt::format("pass {} is too late: {} passes were done", first, passes_done));
  }
  while (!entries.empty() && entries.back().number >= first) entries.pop_back();
  // Passes after the last change are run again: they change nothing.
  passes_done = entries.empty() ? 0 : entries.back().number;
  return {};
}

Status CheckpointRecorder::RunAfterPass(const Module&, const PassInfo& info, PassOutcome outcome) {
  if (info.is_composite() || outcome == PassOutcome::Failed) return {};
  index_.passes_done = counter_->current();
  return index_.Write(folder_);
}

}  // namespace iropt
