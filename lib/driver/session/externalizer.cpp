#include "iropt/driver/externalizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "iropt/data/tensors.h"
#include "iropt/ir/relax/walk.h"

namespace iropt {

namespace {

constexpr std::string_view kExtension = ".safetensors";

// The metadata of the files that are written here.
const SafetensorsMetadata& WriterMetadata() {
  static const SafetensorsMetadata metadata{{"writer", "ir-opt -externalize-constants"}};
  return metadata;
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error);
}

// Returns whether the path names a regular file, or nothing.
bool CanBeFile(const std::filesystem::path& path) {
  std::error_code error;
  return !std::filesystem::exists(path, error) || std::filesystem::is_regular_file(path, error);
}

bool IsOwnFile(const std::string& path) {
  const Result<SafetensorsMetadata> metadata = ReadSafetensorsMetadata(path);
  return metadata.ok() && *metadata == WriterMetadata();
}

}  // namespace

Result<std::string> ConstantExternalizer::PathNextTo(const std::string& output) {
  std::filesystem::path path(output);
  if (IsStandardStream(output) || !CanBeFile(path)) {
    return Error{ErrorCode::Usage,
                 "-externalize-constants needs -o with a file: the weights are written to a file next to it"};
  }
  if (path.extension() == kExtension) {
    return Error{ErrorCode::Usage, fmt::format("-o '{}' is the name of the file for -externalize-constants: expected "
                                               "another extension than {}",
                                               output, kExtension)};
  }
  path.replace_extension(kExtension);
  std::error_code error;
  if (std::filesystem::exists(path, error) && !(CanBeFile(path) && IsOwnFile(path.string()))) {
    return Error{ErrorCode::Usage, fmt::format("-externalize-constants would replace '{}', which it did not write: "
                                               "expected another name after -o",
                                               path.string())};
  }
  return path.string();
}

void ConstantExternalizer::Add(const Module& module) {
  struct Handler : WalkHandler {
    explicit Handler(ConstantExternalizer& owner) : owner(owner) {}
    void OnConstant(const Constant& constant) { owner.AddArray(*constant.data); }
    ConstantExternalizer& owner;
  };
  Handler handler(*this);
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) Walk(function, handler);
  }
}

void ConstantExternalizer::AddArray(const NDArray& array) {
  const bool is_inline = array.shape().empty() || array.num_elements() <= inline_constants_;
  if (is_inline || static_cast<int64_t>(array.num_bytes()) <= min_bytes_ || references_.contains(&array)) return;
  const FileTensor* source = array.source();
  // A file that text cannot refer to.
  if (source && !source->hash && !source->path.ends_with(kExtension)) source = nullptr;
  // The printer refers to tensors with a recorded hash in any case.
  if (source ? source->hash.has_value() : !IsSafetensorsType(array.dtype())) return;
  arrays_.push_back(array.shared_from_this());
  FileTensor& tensor = references_[&array];
  if (source) {
    tensor = *source;
    tensor.hash = array.ContentHash();
    refers_to_old_ |= IsSameFile(source->path, path_);
    return;
  }
  tensor.path = path_;
  tensor.hash = array.ContentHash();
  tensor.name = fmt::format("{}_{}_{}", array.dtype().ToString(), fmt::join(array.shape(), "x"), tensor.hash->Digits());
  written_.emplace(tensor.name, arrays_.back());
  files_.Provide(tensor, arrays_.back());
}

Result<AtomicFile> ConstantExternalizer::Write() const {
  std::vector<NamedTensor> tensors;
  if (refers_to_old_ || files_.HasOpened(path_)) {
    IROPT_ASSIGN_OR_RETURN(std::vector<NamedTensor> old, ReadTensors(path_));
    std::erase_if(old, [&](const NamedTensor& tensor) { return written_.contains(tensor.name); });
    tensors = std::move(old);
  }
  for (const auto& [name, array] : written_) tensors.push_back({name, array});
  IROPT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path_));
  IROPT_RETURN_IF_ERROR(AppendSafetensors(file.stream(), tensors, WriterMetadata()));
  IROPT_RETURN_IF_ERROR(file.Finish());
  return file;
}

}  // namespace iropt
