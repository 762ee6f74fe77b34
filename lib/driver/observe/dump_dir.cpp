#include "dump_dir.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "snapshot.h"

namespace iropt {

namespace {

// The name of a pass as a part of the name of a file.
std::string FileNameOf(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '_' && c != '-'; }, '_');
  return name;
}

}  // namespace

Result<std::shared_ptr<DumpDir>> DumpDir::Make(std::string folder, const CompilerInstance& compiler,
                                               std::shared_ptr<const PassCounter> counter,
                                               std::shared_ptr<const PipelineCursor> cursor,
                                               SettingsWith settings_with) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK | X_OK) != 0) {
    const std::string reason = (error ? error : std::error_code(errno, std::generic_category())).message();
    return Error{ErrorCode::Usage, fmt::format("cannot write to the folder '{}': {}", folder, reason)};
  }
  std::shared_ptr<DumpDir> made(new DumpDir(std::move(folder), compiler));
  made->counter_ = std::move(counter);
  made->cursor_ = std::move(cursor);
  made->settings_with_ = std::move(settings_with);
  return made;
}

std::string DumpDir::PathOf(std::string_view kind, const PassInfo& info) const {
  return fmt::format("{}/{:04}-{}{}.ir", folder_, counter_->current(), kind, FileNameOf(info.name));
}

std::string DumpDir::TitleOf(const PassInfo& info) const {
  const std::string chunk = compiler_.chunk().empty() ? "" : fmt::format(", in {}", compiler_.chunk());
  return fmt::format("pass {}, {}{}", counter_->current(), info.name, chunk);
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
    compiler_.Print(module, out, file.path);
    return out.Flush();
  });
}

}  // namespace iropt
