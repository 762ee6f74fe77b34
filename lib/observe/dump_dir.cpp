#include "iropt/observe/dump_dir.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <utility>

#include "iropt/observe/output_files.h"
#include "iropt/observe/snapshot.h"
#include "iropt/pass/pipeline.h"

namespace iropt {

namespace {

// The name of a pass as a part of the name of a file.
std::string FileNameOf(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '_' && c != '-'; }, '_');
  return name;
}

// Returns whether a file may be one of PathOf: "0003-FoldConstant.ir".
bool IsNameOfDump(std::string_view name) {
  constexpr size_t kDigits = 4;
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits >= kDigits && name.substr(digits).starts_with('-') && name.ends_with(".ir");
}

}  // namespace

Result<std::shared_ptr<DumpDir>> DumpDir::Make(const std::string& flag, std::string folder,
                                               const ModuleConsole& console, std::shared_ptr<const PassCounter> counter,
                                               std::shared_ptr<const PipelineCursor> cursor,
                                               SettingsWith settings_with) {
  IROPT_RETURN_IF_ERROR(MakeOutputFolder(folder));
  std::shared_ptr<DumpDir> made(new DumpDir(flag, std::move(folder), console));
  made->counter_ = std::move(counter);
  made->cursor_ = std::move(cursor);
  made->settings_with_ = std::move(settings_with);
  return made;
}

Status DumpDir::RemoveOldFiles() {
  if (std::exchange(has_removed_, true)) return {};
  std::error_code error;
  std::filesystem::directory_iterator files(folder_, error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::filesystem::path path = files->path();
    if (!IsNameOfDump(path.filename().string()) || !files->is_regular_file(error)) continue;
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> text, ReadFile(path.string()));
    if (!PipelineOfSnapshot(text->text())) continue;
    if (!std::filesystem::remove(path, error)) break;
  }
  if (!error) return {};
  return Error{ErrorCode::Usage, fmt::format("cannot remove old files of '{}': {}", folder_, error.message())};
}

std::string DumpDir::PathOf(std::string_view kind, const PassInfo& info) const {
  return fmt::format("{}/{:04}-{}{}.ir", folder_, counter_->current(), kind, FileNameOf(info.name));
}

std::string DumpDir::TitleOf(const PassInfo& info) const {
  // A heading is a comment on a line of its own.
  std::string heading = console_.Heading(fmt::format("pass {}, {}", counter_->current(), iropt::TitleOf(info)), {});
  heading.pop_back();
  return heading.substr(2);
}

Status DumpDir::OnResult(const Module&, const Module& after, const PassInfo& info, ModuleChanges changes) {
  if (changes.empty()) return {};
  std::string path = PathOf("", info);
  std::string header = SnapshotHeader("after " + TitleOf(info), settings_with_(cursor_->Rest()), path);
  IROPT_RETURN_IF_ERROR(Write({path, std::move(header)}, after));
  if (on_written_) on_written_(std::filesystem::path(path).filename().string());
  return {};
}

DumpDir::Pending DumpDir::Before(const PassInfo& info, FunctionRef<PipelineFile(PipelineFile)> adjust) const {
  Pipeline passes = {cursor_->current()};
  std::ranges::move(cursor_->Rest(), std::back_inserter(passes));
  std::string path = PathOf("before-", info);
  std::string header = SnapshotHeader("before " + TitleOf(info), adjust(settings_with_(std::move(passes))), path);
  return {std::move(path), std::move(header)};
}

Status DumpDir::Write(const Pending& file, const Module& module) const {
  return WriteFileAtomically(file.path, [&](OutputStream& out) -> Status {
    out.Append(file.header);
    console_.Print(module, out, file.path);
    return out.Flush();
  });
}

}  // namespace iropt
