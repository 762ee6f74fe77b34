#include "iropt/ir/array_attr.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/dtype.h"
#include "iropt/ir/element.h"

namespace iropt {

namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// TVM's header of an array, before the shape and the elements (little endian).
struct ArrayHeader {
  uint64_t magic = 0xdd5e40f096b4a13fu;
  uint64_t reserved = 0;
  int32_t device_type = 1;  // the host
  int32_t device_id = 0;
  int32_t ndim = 0;
  uint8_t type_code = 0;
  uint8_t bits = 0;
  uint16_t lanes = 1;
};
static_assert(sizeof(ArrayHeader) == 32);

// DLPack's numbers of the kinds of types, with TVM's additions for narrow floats.
constexpr std::pair<TypeCode, uint8_t> kTypeCodes[] = {
    {TypeCode::kInt, 0},    {TypeCode::kUInt, 1},       {TypeCode::kFloat, 2},     {TypeCode::kHandle, 3},
    {TypeCode::kBFloat, 4}, {TypeCode::kFloat8E4M3, 6}, {TypeCode::kFloat8E5M2, 7}};

bool DecodeBase64(std::string_view text, std::string& out) {
  static const std::array<int8_t, 256> values = [] {
    std::array<int8_t, 256> t;
    t.fill(-1);
    for (size_t i = 0; i < kBase64.size(); ++i) t[static_cast<uint8_t>(kBase64[i])] = static_cast<int8_t>(i);
    return t;
  }();
  out.clear();
  out.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=' || c == '\n' || c == '\r') continue;
    const int value = values[static_cast<uint8_t>(c)];
    if (value < 0) return false;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count);
  }
  return true;
}

void EncodeBase64(std::string_view bytes, FunctionRef<void(std::string_view)> append) {
  constexpr size_t kPart = 4096;
  std::string part;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) part += k <= n ? kBase64[group >> (18 - 6 * k) & 63] : '=';
    if (part.size() < kPart) continue;
    append(part);
    part.clear();
  }
  append(part);
}

Error Damaged(std::string message) { return {ErrorCode::Parse, std::move(message)}; }

}  // namespace

Result<std::shared_ptr<const NDArray>> DecodeArray(std::string_view base64) {
  std::string storage;
  if (!DecodeBase64(base64, storage)) return Damaged("an array is not in base64");
  const Error damaged = Damaged("an array is damaged");
  std::string_view bytes = storage;
  ArrayHeader header;
  const uint64_t magic = header.magic;
  if (bytes.size() < sizeof header) return damaged;
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  if (header.magic != magic || header.ndim < 0 || bytes.size() < (static_cast<size_t>(header.ndim) + 1) * 8)
    return damaged;
  DataType dtype;
  for (const auto& [code, number] : kTypeCodes) {
    if (number == header.type_code) dtype = DataType::Make(code, header.bits, header.lanes);
  }
  if (!IsElementType(dtype)) return Damaged("an array has an unknown element type");
  std::vector<int64_t> shape(static_cast<size_t>(header.ndim));
  int64_t size = dtype.bytes();
  for (size_t i = 0; i < shape.size(); ++i) {
    std::memcpy(&shape[i], bytes.data() + 8 * i, 8);
    if (shape[i] < 0 || __builtin_mul_overflow(size, shape[i], &size)) return damaged;
  }
  bytes.remove_prefix(8 * shape.size() + 8);
  if (static_cast<uint64_t>(size) != bytes.size()) return damaged;
  const std::shared_ptr<NDArray> array = NDArray::Make(dtype, shape);
  std::memcpy(array->mutable_data(), bytes.data(), bytes.size());
  return array;
}

void EncodeArray(const NDArray& array, FunctionRef<void(std::string_view)> append) {
  ArrayHeader header;
  header.ndim = static_cast<int32_t>(array.shape().size());
  for (const auto& [code, number] : kTypeCodes) {
    if (code == array.dtype().code) header.type_code = number;
  }
  header.bits = array.dtype().bits;
  const auto size = static_cast<int64_t>(array.num_bytes());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(array.shape().data()), array.shape().size() * 8);
  bytes.append(reinterpret_cast<const char*>(&size), 8);
  bytes.append(reinterpret_cast<const char*>(array.data()), array.num_bytes());
  EncodeBase64(bytes, append);
}

const ObjectAttr* MakeArrayAttr(const NDArray& array) {
  std::string text;
  EncodeArray(array, [&](std::string_view part) { text += part; });
  const Attr* const fields[] = {StrAttr::Get(text)};
  return ObjectAttr::Get(kArrayKey, {{kArrayField}}, fields);
}

}  // namespace iropt
