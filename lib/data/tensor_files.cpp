#include "iropt/data/tensor_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "bytes.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/file.h"
#include "safetensors.h"
#include "tvm_params.h"

namespace iropt {

struct TensorFiles::OpenFile {
  std::shared_ptr<const FileBuffer> buffer;
  std::vector<data::TensorEntry> tensors;
  std::unordered_map<std::string_view, const data::TensorEntry*> entries;  // by name
};

namespace {

// One path for all paths of a file, which need not exist. Links are resolved in its folder only.
std::string CanonicalPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return (std::filesystem::weakly_canonical(absolute.parent_path(), error) / absolute.filename()).string();
}

Result<std::vector<data::TensorEntry>> ReadEntries(const FileBuffer& file) {
  if (data::IsTvmParams(file.text())) return data::ReadTvmParamsEntries(file.text());
  IROPT_ASSIGN_OR_RETURN(data::SafetensorsHeader header, data::ReadSafetensorsHeader(file));
  return std::move(header.entries);
}

}  // namespace

void TensorFiles::Provide(const FileTensor& tensor, std::shared_ptr<const NDArray> array) {
  provided_[CanonicalPath(tensor.path)].insert_or_assign(tensor.name, Provided{std::move(array), tensor.hash});
}

std::shared_ptr<const NDArray> TensorFiles::FindProvided(const FileTensor& source) const {
  if (provided_.empty()) return nullptr;
  const auto file = provided_.find(CanonicalPath(source.path));
  if (file == provided_.end()) return nullptr;
  const auto provided = file->second.find(source.name);
  if (provided == file->second.end() || provided->second.hash != source.hash) return nullptr;
  return provided->second.array;
}

bool TensorFiles::HasOpened(const std::string& path) const {
  std::error_code error;
  return std::ranges::any_of(files_,
                             [&](const auto& file) { return std::filesystem::equivalent(file.first, path, error); });
}

Result<const TensorFiles::OpenFile*> TensorFiles::FileAt(const std::string& path) {
  if (const auto known = files_.find(path); known != files_.end()) return known->second.get();
  // The path comes from a text: a pipe or a device might never end.
  std::error_code error;
  const bool is_regular = !std::filesystem::exists(path, error) || std::filesystem::is_regular_file(path, error);
  if (IsStandardStream(path) || !is_regular)
    return data::Malformed(fmt::format("cannot open '{}': not a regular file", path));
  const auto file = std::make_shared<OpenFile>();
  IROPT_ASSIGN_OR_RETURN(file->buffer, ReadFile(path));
  auto tensors = ReadEntries(*file->buffer);
  if (!tensors) return data::Malformed(fmt::format("{}: {}", path, tensors.error().message));
  file->tensors = *std::move(tensors);
  file->entries.reserve(file->tensors.size());
  for (const data::TensorEntry& entry : file->tensors) file->entries.emplace(entry.name, &entry);
  return files_.emplace(path, file).first->second.get();
}

Result<std::shared_ptr<const NDArray>> TensorFiles::Open(FileTensor source) {
  if (std::shared_ptr<const NDArray> provided = FindProvided(source)) return provided;
  IROPT_ASSIGN_OR_RETURN(const OpenFile* file, FileAt(source.path));
  const auto entry = file->entries.find(source.name);
  if (entry == file->entries.end()) {
    std::vector<std::string_view> names;
    for (const auto& [name, tensor] : file->entries) names.push_back(name);
    std::ranges::sort(names);
    return data::Malformed(
        fmt::format("{}: it has no tensor '{}'{}", source.path, source.name, DidYouMean(source.name, names)));
  }
  source.file = file->buffer;
  opened_.push_back(
      NDArray::InFile(entry->second->dtype, entry->second->shape, entry->second->data(), std::move(source)));
  return opened_.back();
}

void TensorFiles::CheckAll() const {
  for (const auto& array : opened_) static_cast<void>(array->data());
}

std::vector<std::shared_ptr<const NDArray>> TensorFiles::TakeDamaged() {
  const auto damaged =
      std::stable_partition(opened_.begin(), opened_.end(), [](const auto& a) { return !a->damaged(); });
  std::vector<std::shared_ptr<const NDArray>> taken(damaged, opened_.end());
  opened_.erase(damaged, opened_.end());
  return taken;
}

}  // namespace iropt
