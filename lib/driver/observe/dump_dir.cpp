#include "dump_dir.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
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

Status DumpDir::OnResult(const Module&, const Module& after, const PassInfo& info, ModuleChanges changes) {
  return changes.empty() ? Status() : Write(after, info);
}

Status DumpDir::Write(const Module& module, const PassInfo& info) const {
  const size_t number = counter_->current();
  const std::string path = fmt::format("{}/{:04}-{}.ir", folder_, number, FileNameOf(info.name));
  const std::string chunk = compiler_.chunk().empty() ? "" : fmt::format(", in {}", compiler_.chunk());
  const std::string title = fmt::format("after pass {}, {}{}", number, info.name, chunk);
  return WriteSnapshot(title, settings_with_(cursor_->Rest()), path,
                       [&](OutputStream& out) { compiler_.Print(module, out, path); });
}

}  // namespace iropt
