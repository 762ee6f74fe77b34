// The format: the length of a JSON object in 8 bytes; the object, which gives dtype, shape and byte offsets for each
// name; the bytes. Source: https://github.com/huggingface/safetensors#format
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "bytes.h"
#include "iropt/data/tensors.h"

namespace iropt {

namespace {

using data::Malformed;
// Names keep their order.
using Json = nlohmann::ordered_json;

// Of the header's size.
constexpr size_t kLength = 8;

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
bool ReadNumbers(const Json& json, std::vector<int64_t>& numbers) {
  if (!json.is_array()) return false;
  for (const Json& item : json) {
    if (!item.is_number_integer()) return false;
    const auto number = item.get<int64_t>();
    if (number < 0) return false;
    numbers.push_back(number);
  }
  return true;
}

// The header as JSON. A name that occurs twice would hide one of two tensors.
Result<Json> ReadHeader(std::string_view text) {
  std::unordered_set<std::string> names;
  std::string repeated;
  const auto look = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second)
      repeated = parsed.get<std::string>();
    return true;
  };
  Json header = Json::parse(text, look, /*allow_exceptions=*/false);
  if (!header.is_object()) return Malformed("its header is not a JSON object");
  if (!repeated.empty()) return Malformed(fmt::format("it has two tensors '{}'", repeated));
  return header;
}

Result<NamedTensor> ReadTensor(const std::string& name, const Json& facts, const data::Bytes& bytes) {
  const auto field = [&](const char* key) { return facts.is_object() ? facts.value(key, Json()) : Json(); };
  const Json dtype_name = field("dtype");
  std::vector<int64_t> shape;
  std::vector<int64_t> range;
  if (!dtype_name.is_string() || !ReadNumbers(field("shape"), shape) || !ReadNumbers(field("data_offsets"), range) ||
      range.size() != 2) {
    return Malformed(fmt::format("tensor '{}' lacks a valid dtype, shape or data_offsets", name));
  }
  const auto& written = dtype_name.get_ref<const std::string&>();
  const auto* spelling = std::ranges::find(kSpellings, std::string_view(written), &Spelling::name);
  if (spelling == std::end(kSpellings))
    return Malformed(fmt::format("tensor '{}' has the unknown dtype '{}'", name, written));
  const auto begin = static_cast<uint64_t>(range[0]);
  const auto end = static_cast<uint64_t>(range[1]);
  if (begin > end || end > bytes.text.size())
    return Malformed(fmt::format("tensor '{}' reaches past the end of the file", name));
  if (ArrayBytes(spelling->dtype, shape) != end - begin) {
    return Malformed(fmt::format("tensor '{}' has {} bytes, which does not match dtype {} and shape ({})", name,
                                 end - begin, spelling->dtype.ToString(), fmt::join(shape, ", ")));
  }
  return NamedTensor{
      name, data::MakeArray(spelling->dtype, std::move(shape), {bytes.text.substr(begin, end - begin), bytes.owner})};
}

}  // namespace

Result<std::vector<NamedTensor>> ReadSafetensors(const std::shared_ptr<const FileBuffer>& file) {
  std::string_view rest = file->text();
  const uint64_t header_size = rest.size() < kLength ? 0 : data::Load<uint64_t>(rest);
  if (rest.size() < kLength || header_size > rest.size() - kLength) return Malformed("its header is cut off");
  IROPT_ASSIGN_OR_RETURN(const Json header, ReadHeader(rest.substr(kLength, header_size)));
  rest.remove_prefix(kLength + header_size);
  std::vector<NamedTensor> tensors;
  for (const auto& [name, facts] : header.items()) {
    if (name == "__metadata__") continue;
    IROPT_ASSIGN_OR_RETURN(NamedTensor tensor, ReadTensor(name, facts, {rest, file}));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Status WriteSafetensors(const std::string& path, std::span<const NamedTensor> tensors) {
  Json header = Json::object();
  uint64_t offset = 0;
  for (const NamedTensor& named : tensors) {
    const NDArray& tensor = *named.tensor;
    const auto* spelling = std::ranges::find(kSpellings, tensor.dtype(), &Spelling::dtype);
    if (spelling == std::end(kSpellings))
      return Malformed(fmt::format("tensor '{}': the format has no dtype {}", named.name, tensor.dtype().ToString()));
    if (header.contains(named.name)) return Malformed(fmt::format("it has two tensors '{}'", named.name));
    const uint64_t end = offset + tensor.num_bytes();
    header[named.name] = {{"dtype", spelling->name}, {"shape", tensor.shape()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Spaces after the object align the bytes, as the format recommends.
  text.append((kLength - text.size() % kLength) % kLength, ' ');
  return WriteFileAtomically(path, [&](OutputStream& out) -> Status {
    const uint64_t size = text.size();
    out.Append(std::string_view(reinterpret_cast<const char*>(&size), sizeof size));
    out.Append(text);
    for (const NamedTensor& named : tensors) {
      out.Append(std::string_view(reinterpret_cast<const char*>(named.tensor->data()), named.tensor->num_bytes()));
    }
    return out.status();
  });
}

}  // namespace iropt
