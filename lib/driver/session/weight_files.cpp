#include "iropt/driver/weight_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>
#include <utility>

namespace iropt {

TensorOpener WeightFiles::OpenerFor(const std::string& folder, const std::optional<std::string>& weights) {
  // A module has many tensors and few files.
  return [&, paths = std::unordered_map<std::string, std::string>()](
             FileTensor tensor) mutable -> Result<std::shared_ptr<const NDArray>> {
    const auto [path, added] = paths.try_emplace(tensor.path);
    if (added) path->second = weights.value_or((std::filesystem::path(folder) / tensor.path).string());
    if (weights) tensor.absolute = weights->starts_with('/');
    tensor.path = path->second;
    Result<std::shared_ptr<const NDArray>> array = files_.Open(std::move(tensor));
    std::error_code error;
    if (array.ok() || weights || std::filesystem::exists(path->second, error)) return array;
    return Error{array.error().code, array.error().message + "; -weights=FILE names the file of all weights"};
  };
}

Status WeightFiles::Check() {
  const auto damaged = files_.TakeDamaged();
  for (const auto& array : damaged) {
    const FileTensor& tensor = *array->source();
    diagnostics_.Error(
        tensor.span, "bad-weights",
        fmt::format("{}: tensor '{}' does not have the hash {}", tensor.path, tensor.name, tensor.hash->ToString()));
  }
  if (!damaged.empty()) return Failure{ErrorCode::Parse};
  return {};
}

void WeightFiles::WarnOfUnused() {
  if (!options_.weights || are_bound_ || !files_.empty()) return;
  diagnostics_.Warning(
      {}, "unused-weights",
      fmt::format("no constant of the input refers to weights, so -weights={} has no effect", *options_.weights));
}

Status WeightFiles::CheckOutputPath(const std::string& path) const {
  if (!files_.HasOpened(path)) return {};
  return Error{ErrorCode::Usage, fmt::format("cannot write '{}': it has weights of the input", path)};
}

void WeightFiles::Externalize(const Module& module) {
  if (externalizer_) externalizer_->Add(module);
}

}  // namespace iropt
