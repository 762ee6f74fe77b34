#include "output_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace iropt {

OutputFiles::OutputFiles(const std::string& input, const std::string& output) {
  if (auto file = FileOf(output)) claimed_.push_back({"the module", *std::move(file)});
  if (input == "-") return;
  if (auto file = FileOf(input)) claimed_.push_back({"the input", *std::move(file)});
}

// A name that all paths of a file share; nothing for a file that several may write to.
std::optional<std::string> OutputFiles::FileOf(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return "-";
  std::error_code error;
  if (std::filesystem::is_character_file(path, error)) return std::nullopt;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(absolute, error);
  return (error ? absolute.lexically_normal() : canonical).string();
}

Status OutputFiles::Claim(std::string_view owner, const std::string& path) {
  std::optional<std::string> file = FileOf(path);
  if (!file) return {};
  const auto other = std::ranges::find(claimed_, *file, &Claimed::file);
  if (other == claimed_.end()) {
    claimed_.push_back({std::string(owner), *std::move(file)});
    return {};
  }
  return Error{ErrorCode::Usage,
               fmt::format("{} and {} name the same file: '{}'", other->owner, owner, path == "-" ? "<stdout>" : path)};
}

}  // namespace iropt
