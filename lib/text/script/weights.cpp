#include "weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace iropt::text {

std::string ArrayType::ToString() const { return fmt::format("{} ({})", dtype.ToString(), fmt::join(shape, ", ")); }

bool WeightsReader::Refers(JsonValue attrs) {
  return attrs.Find(kWeightsFile).has_value() || attrs.Find(kWeightsElided).has_value();
}

Result<std::shared_ptr<const NDArray>> WeightsReader::RefuseElided(JsonValue attrs, const ArrayType& type) {
  IROPT_ASSIGN_OR_RETURN(const JsonValue size, attrs.At(kWeightsElided));
  IROPT_ASSIGN_OR_RETURN(const std::string_view bytes, size.AsString());
  IROPT_ASSIGN_OR_RETURN(const JsonValue index, attrs.At(kWeightsName));
  IROPT_ASSIGN_OR_RETURN(const std::string_view name, index.AsString());
  return Fail(Locate(std::string(name)),
              fmt::format("the data of constant {} is missing: its {} bytes of type {} were elided when the text was "
                          "printed (-elide-constants-larger-than)",
                          name, bytes, type.ToString()));
}

Result<std::shared_ptr<const NDArray>> WeightsReader::Open(JsonValue attrs, const ArrayType& expected) {
  if (attrs.Find(kWeightsElided)) return RefuseElided(attrs, expected);
  std::string_view path;
  std::string_view tensor_name;
  std::string_view hash;
  for (const auto& [key, value] :
       {std::pair(kWeightsFile, &path), {kWeightsName, &tensor_name}, {kWeightsHash, &hash}}) {
    IROPT_ASSIGN_OR_RETURN(const JsonValue attr, attrs.At(key));
    IROPT_ASSIGN_OR_RETURN(*value, attr.AsString());
  }
  const std::string name(tensor_name);
  const SourceSpan span = Locate(name);
  const std::optional<DataHash> recorded = DataHash::Parse(hash);
  if (!recorded) return Fail(span, fmt::format("invalid hash '{}': expected xxh128: and 32 hexadecimal digits", hash));
  if (!open_tensor_) return Fail(span, "constants in files can't be read here");
  const Result<std::shared_ptr<const NDArray>> array = open_tensor_({.path = std::string(path),
                                                                     .absolute = path.starts_with('/'),
                                                                     .name = name,
                                                                     .hash = recorded,
                                                                     .span = span,
                                                                     .file = {}});
  if (!array) {
    failed_ = true;
    // A missing file is told once, not for each of its tensors.
    if (told_.insert(array.error().message).second) return Fail(span, array.error().message);
    return nullptr;
  }
  const std::span<const int64_t> shape = (*array)->shape();
  const ArrayType found{(*array)->dtype(), {shape.begin(), shape.end()}};
  if (found == expected) return *array;
  const FileTensor* in_file = (*array)->source();
  return Fail(span,
              fmt::format("{}: tensor '{}' has type {}, but the text says {}",
                          in_file ? in_file->path : std::string(path), name, found.ToString(), expected.ToString()));
}

std::shared_ptr<const NDArray> WeightsReader::Fail(SourceSpan span, std::string message) {
  failed_ = true;
  diagnostics_.Error(span, "bad-weights", std::move(message));
  return nullptr;
}

namespace {

// The end of a JSON string that begins at the offset of a Python string: its `\"`. An escape of JSON begins with `\\`.
size_t FindEndOfString(std::string_view text, size_t at) {
  while (at < text.size() && !text.substr(at).starts_with("\\\"")) {
    const bool is_escape = text.substr(at).starts_with("\\\\");
    at += !is_escape ? 1 : text.substr(at).starts_with("\\\\\\") ? 4 : 3;
  }
  return std::min(at, text.size());
}

}  // namespace

void WeightsReader::FindNames() {
  const std::string begin = fmt::format("{}\\\": \\\"", kWeightsName);
  const std::string_view text = text_.token;
  for (size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at)) {
    at += begin.size();
    const size_t end = FindEndOfString(text, at);
    names_.emplace_back(text.substr(at, end - at), at);
    at = end;
  }
  found_names_ = true;
}

size_t WeightsReader::IndexOf(std::string_view escaped) {
  // As a rule, tensors are opened in the order of the text.
  if (next_ < names_.size() && names_[next_].first == escaped) return next_;
  if (sorted_.empty()) {
    for (size_t i = 0; i < names_.size(); ++i) sorted_.emplace_back(names_[i].first, i);
    std::ranges::sort(sorted_);
  }
  // Tensors of several files may have one name.
  auto found = std::ranges::lower_bound(sorted_, std::pair(escaped, next_));
  if (found == sorted_.end() || found->first != escaped)
    found = std::ranges::lower_bound(sorted_, std::pair(escaped, size_t{0}));
  return found == sorted_.end() || found->first != escaped ? names_.size() : found->second;
}

SourceSpan WeightsReader::Locate(const std::string& name) {
  if (!found_names_) FindNames();
  const size_t index = IndexOf(EscapeJson(name));
  if (index == names_.size()) return text_.span;
  next_ = index + 1;
  const auto& [spelling, offset] = names_[index];
  const auto begin = static_cast<uint32_t>(text_.span.begin + offset);
  return {begin, begin + static_cast<uint32_t>(spelling.size())};
}

const FileTensor* FileOf(const NDArray& array, const PrintOptions& options) {
  if (options.external) {
    if (const auto known = options.external->find(&array); known != options.external->end()) return &known->second;
  }
  return array.source() && array.source()->hash ? array.source() : nullptr;
}

const std::string& WeightsPaths::PathOf(const FileTensor& tensor) {
  if (tensor.absolute) return tensor.path;
  const auto [known, added] = paths_.try_emplace(tensor.path, tensor.path);
  if (!added) return known;
  // Links are resolved in the folders only: the file itself may be a link with a better name.
  std::error_code error;
  const std::filesystem::path path(tensor.path);
  const std::filesystem::path from = std::filesystem::absolute(path, error).parent_path();
  const std::filesystem::path folder = std::filesystem::absolute(folder_, error);
  const std::filesystem::path to = std::filesystem::relative(from, folder, error);
  if (!error) known = (to / path.filename()).lexically_normal().string();
  return known;
}

std::string EscapeJson(const std::string& text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, is_plain)) return text;
  const std::string json = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string escaped;
  for (const char c : std::string_view(json).substr(1, json.size() - 2)) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace iropt::text
