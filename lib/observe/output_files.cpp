#include "iropt/observe/output_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "iropt/support/file_log.h"

namespace iropt {

namespace {

// A name that all paths of a file share; nothing for a file that several may read or write.
std::optional<std::string> FileOf(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return "-";
  std::error_code error;
  if (std::filesystem::is_character_file(path, error)) return std::nullopt;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(absolute, error);
  return (error ? absolute.lexically_normal() : canonical).string();
}

Error SameFile(std::string_view one, std::string_view other, const std::string& path) {
  return {ErrorCode::Usage,
          fmt::format("{} and {} name the same file: '{}'", one, other, path == "-" ? "<stdout>" : path)};
}

Status CheckKind(std::string_view owner, const std::string& path, const FileKind& kind) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) == 0) return {};
  constexpr size_t kHead = 1024;
  std::string head(kHead, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  if (head.starts_with(kind.begin) && head.find(kind.mark) != std::string::npos) return {};
  return Error{ErrorCode::Usage, fmt::format("{} does not replace '{}': it is not {}", owner, path, kind.name)};
}

}  // namespace

void OutputFiles::AddRead(std::string_view owner, const std::string& path) {
  if (path == "-") return;
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) FileLog::NoteRead(path);
  if (auto file = FileOf(path)) read_.push_back({std::string(owner), *std::move(file)});
}

Status OutputFiles::Claim(std::string_view owner, const std::string& path) { return ClaimInPlace(owner, path, "-"); }

Status OutputFiles::ClaimInPlace(std::string_view owner, const std::string& path, const std::string& source) {
  std::optional<std::string> file = FileOf(path);
  if (!file) return {};
  const auto other = std::ranges::find(written_, *file, &Claimed::file);
  if (other != written_.end()) return SameFile(other->owner, owner, path);
  const bool in_place = source != "-" && FileOf(source) == file;
  const auto read = std::ranges::find(read_, *file, &Claimed::file);
  if (read != read_.end() && !in_place) return SameFile(read->owner, owner, path);
  written_.push_back({std::string(owner), *std::move(file)});
  return {};
}

Status OutputFiles::ClaimOfKind(std::string_view owner, const std::string& path, const FileKind& kind) {
  IROPT_RETURN_IF_ERROR(Claim(owner, path));
  return CheckKind(owner, path, kind);
}

Result<AtomicFile> OutputFiles::Open(std::string_view owner, const std::string& path, const FileKind& kind) {
  IROPT_RETURN_IF_ERROR(ClaimOfKind(owner, path, kind));
  return AtomicFile::Create(path);
}

Status MakeOutputFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && access(folder.c_str(), W_OK | X_OK) == 0) return {};
  const std::string reason = (error ? error : std::error_code(errno, std::generic_category())).message();
  return Error{ErrorCode::Usage, fmt::format("cannot write to the folder '{}': {}", folder, reason)};
}

}  // namespace iropt
