// The format: the length of a JSON object in 8 bytes; the object, which gives dtype, shape and byte offsets for each
// name; the bytes. Source: https://github.com/huggingface/safetensors#format
#include "safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "bytes.h"
#include "iropt/data/tensors.h"
#include "iropt/support/json.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

using data::Malformed;
using Json = nlohmann::json;

// The size of the length of the header, and the alignment of the bytes after it in files that are written here.
constexpr size_t kLength = 8;
constexpr size_t kAlignment = 64;
// The entry of the header that is not a tensor.
constexpr const char* kMetadata = "__metadata__";

struct Spelling {
  std::string_view name;
  DataType dtype;
};
constexpr Spelling kSpellings[] = {
    {"BOOL", DataType::Bool()},
    {"U8", DataType::UInt(8)},
    {"I8", DataType::Int(8)},
    {"U16", DataType::UInt(16)},
    {"I16", DataType::Int(16)},
    {"U32", DataType::UInt(32)},
    {"I32", DataType::Int(32)},
    {"U64", DataType::UInt(64)},
    {"I64", DataType::Int(64)},
    {"F16", DataType::Float(16)},
    {"F32", DataType::Float(32)},
    {"F64", DataType::Float(64)},
    {"BF16", DataType::BFloat(16)},
    {"F8_E4M3", DataType::Make(TypeCode::kFloat8E4M3, 8, 1)},
    {"F8_E5M2", DataType::Make(TypeCode::kFloat8E5M2, 8, 1)},
};

// A list of non-negative numbers; false for other values.
bool ReadNumbers(const std::optional<JsonValue>& json, std::vector<int64_t>& numbers) {
  if (!json || !json->is_array()) return false;
  for (const JsonValue item : *json) {
    if (!item.is_integer() || item.integer() < 0) return false;
    numbers.push_back(item.integer());
  }
  return true;
}

Result<data::TensorEntry> ReadEntry(std::string_view name, JsonValue facts, std::string_view bytes) {
  const auto dtype_name = facts.Find("dtype");
  data::TensorEntry entry{.name = std::string(name), .dtype = {}, .shape = {}, .bytes = {}};
  std::vector<int64_t> range;
  if (!dtype_name || !dtype_name->is_string() || !ReadNumbers(facts.Find("shape"), entry.shape) ||
      !ReadNumbers(facts.Find("data_offsets"), range) || range.size() != 2) {
    return Malformed(fmt::format("tensor '{}' lacks a valid dtype, shape or data_offsets", name));
  }
  const std::string_view written = dtype_name->string();
  const auto* spelling = std::ranges::find(kSpellings, written, &Spelling::name);
  if (spelling == std::end(kSpellings))
    return Malformed(fmt::format("tensor '{}' has the unknown dtype '{}'", name, written));
  entry.dtype = spelling->dtype;
  const auto begin = static_cast<uint64_t>(range[0]);
  const auto end = static_cast<uint64_t>(range[1]);
  if (begin > end || end > bytes.size())
    return Malformed(fmt::format("tensor '{}' reaches past the end of the file", name));
  if (ArrayBytes(entry.dtype, entry.shape) != end - begin) {
    return Malformed(fmt::format("tensor '{}' has {} bytes, which does not match dtype {} and shape ({})", name,
                                 end - begin, entry.dtype.ToString(), fmt::join(entry.shape, ", ")));
  }
  entry.bytes = bytes.substr(begin, end - begin);
  return entry;
}

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The header, with the tensors in the order of `tensors`; their bytes begin at `offsets`. Built as text: an object of
// JSON either has no order or takes quadratic time.
Result<std::string> MakeHeader(std::span<const NamedTensor> tensors, std::span<const uint64_t> offsets,
                               const SafetensorsMetadata& metadata) {
  LookupSet<std::string_view> known{kMetadata};
  std::string text = "{";
  const auto append = [&](const std::string& name, const Json& facts) {
    text += fmt::format("{}{}:{}", text.size() > 1 ? "," : "", Dump(name), Dump(facts));
  };
  if (!metadata.empty()) append(kMetadata, metadata);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    const auto* spelling = std::ranges::find(kSpellings, tensor->dtype(), &Spelling::dtype);
    if (spelling == std::end(kSpellings))
      return Malformed(fmt::format("tensor '{}': the format has no dtype {}", name, tensor->dtype().ToString()));
    if (!known.insert(name)) return Malformed(fmt::format("it has two tensors '{}'", name));
    append(name, {{"dtype", spelling->name},
                  {"shape", tensor->shape()},
                  {"data_offsets", {offsets[i], offsets[i] + tensor->num_bytes()}}});
  }
  text += '}';
  // The format recommends spaces after the object, so that the bytes are aligned.
  text.append((kAlignment - (kLength + text.size()) % kAlignment) % kAlignment, ' ');
  return text;
}

}  // namespace

Result<data::SafetensorsHeader> data::ReadSafetensorsHeader(const FileBuffer& file) {
  std::string_view rest = file.text();
  const uint64_t header_size = rest.size() < kLength ? 0 : Load<uint64_t>(rest);
  if (rest.size() < kLength || header_size > rest.size() - kLength) {
    // What no other format has is taken for this one.
    const bool begins = rest.substr(std::min(rest.size(), kLength)).starts_with('{');
    return Malformed(begins ? "its header is cut off"
                            : "not a file of tensors, expected .npz, .npy, .safetensors or parameters that TVM saved");
  }
  const Result<JsonText> json = JsonText::Parse(rest.substr(kLength, header_size));
  if (!json || !json->root().is_object()) return Malformed("its header is not a JSON object");
  rest.remove_prefix(kLength + header_size);
  SafetensorsHeader result;
  LookupSet<std::string_view> known;
  for (const auto& [name, facts] : json->root().members()) {
    // A name that occurs twice would hide one of two tensors.
    if (!known.insert(name)) return Malformed(fmt::format("it has two tensors '{}'", name));
    if (name == kMetadata) {
      for (const auto& [key, value] : facts.members()) {
        if (value.is_string()) result.metadata.emplace(key, value.string());
      }
      continue;
    }
    IROPT_ASSIGN_OR_RETURN(TensorEntry entry, ReadEntry(name, facts, rest));
    result.entries.push_back(std::move(entry));
  }
  return result;
}

Result<std::vector<NamedTensor>> ReadSafetensors(const std::shared_ptr<const FileBuffer>& file,
                                                 const std::string& path) {
  IROPT_ASSIGN_OR_RETURN(const data::SafetensorsHeader header, data::ReadSafetensorsHeader(*file));
  std::vector<NamedTensor> tensors;
  const bool absolute = path.starts_with('/');
  for (const auto& entry : header.entries) {
    FileTensor source{.path = path, .absolute = absolute, .name = entry.name, .hash = {}, .span = {}, .file = file};
    tensors.push_back({entry.name, NDArray::InFile(entry.dtype, entry.shape, entry.data(), std::move(source))});
  }
  return tensors;
}

bool IsSafetensorsType(DataType dtype) {
  return std::ranges::find(kSpellings, dtype, &Spelling::dtype) != std::end(kSpellings);
}

Result<SafetensorsMetadata> ReadSafetensorsMetadata(const std::string& path) {
  IROPT_ASSIGN_OR_RETURN(const auto file, ReadFile(path));
  Result<data::SafetensorsHeader> header = data::ReadSafetensorsHeader(*file);
  if (!header) return Malformed(fmt::format("{}: {}", path, header.error().message));
  return std::move(header->metadata);
}

Status AppendSafetensors(OutputStream& out, std::span<const NamedTensor> tensors, const SafetensorsMetadata& metadata) {
  // Without gaps, which the format forbids, all tensors are aligned if the widest elements come first.
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) { return tensors[i].tensor->dtype().bytes(); });
  std::vector<uint64_t> offsets(tensors.size());
  uint64_t end = 0;
  for (const size_t i : order) offsets[i] = std::exchange(end, end + tensors[i].tensor->num_bytes());
  IROPT_ASSIGN_OR_RETURN(const std::string header, MakeHeader(tensors, offsets, metadata));
  const uint64_t size = header.size();
  out.Append(std::string_view(reinterpret_cast<const char*>(&size), sizeof size));
  out.Append(header);
  for (const size_t i : order) {
    const NDArray& tensor = *tensors[i].tensor;
    out.Append(std::string_view(reinterpret_cast<const char*>(tensor.data()), tensor.num_bytes()));
  }
  return out.status();
}

Status WriteSafetensors(const std::string& path, std::span<const NamedTensor> tensors) {
  return WriteFileAtomically(path, [&](OutputStream& out) { return AppendSafetensors(out, tensors); });
}

}  // namespace iropt
