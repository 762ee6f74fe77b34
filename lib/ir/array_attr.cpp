#include "iropt/ir/array_attr.h"

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/dtype.h"
#include "iropt/ir/narrow_element.h"
#include "iropt/support/base64.h"

namespace iropt {

namespace {

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

// DLPack's numbers of the kinds of types. For narrow floats, TVM had some of its own before 0.21, where types that it
// did not know have numbers here that no version uses; and for bool, which is an unsigned integer of one bit here, it
// has had one since 0.23.
struct CodeOfType {
  TypeCode code;
  uint8_t number, own_number;
};
constexpr CodeOfType kTypeCodes[] = {
    {TypeCode::kInt, 0, 0},
    {TypeCode::kUInt, 1, 1},
    {TypeCode::kFloat, 2, 2},
    {TypeCode::kHandle, 3, 3},
    {TypeCode::kBFloat, 4, 4},
    {TypeCode::kFloat8E3M4, 7, 107},
    {TypeCode::kFloat8E4M3Ieee, 8, 108},
    {TypeCode::kFloat8E4M3B11Fnuz, 9, 9},
    {TypeCode::kFloat8E4M3, 10, 6},
    {TypeCode::kFloat8E4M3Fnuz, 11, 11},
    {TypeCode::kFloat8E5M2, 12, 7},
    {TypeCode::kFloat8E5M2Fnuz, 13, 13},
    {TypeCode::kFloat8E8M0, 14, 14},
    {TypeCode::kFloat6E2M3, 15, 15},
    {TypeCode::kFloat6E3M2, 16, 16},
    {TypeCode::kFloat4E2M1, 17, 8},
};
constexpr uint8_t kBoolCode = 6;

// The versions of TVM in which the numbers changed.
constexpr TextVersion kDlpackTypes = TextVersion::kV0_21;
constexpr TextVersion kBoolType = TextVersion::kV0_23;

Error Damaged(std::string message) { return {ErrorCode::Parse, std::move(message)}; }

// Elements of less than a byte are next to each other since 0.21, the first one in the low bits. Here each has a byte,
// integers with their sign.
bool IsPacked(DataType dtype, TextVersion version) {
  return dtype.bits < 8 && !dtype.is_bool() && version >= kDlpackTypes;
}

std::string Packed(const NDArray& array) {
  const size_t per_byte = 8 / array.dtype().bits;
  const unsigned mask = (1U << array.dtype().bits) - 1;
  std::string packed((array.num_bytes() + per_byte - 1) / per_byte, '\0');
  for (size_t i = 0; i < array.num_bytes(); ++i) {
    const unsigned bits = (std::to_integer<unsigned>(array.data()[i]) & mask) << (i % per_byte * array.dtype().bits);
    packed[i / per_byte] = static_cast<char>(static_cast<unsigned char>(packed[i / per_byte]) | bits);
  }
  return packed;
}

std::string Unpacked(std::string_view packed, DataType dtype, size_t elements) {
  const size_t per_byte = 8 / dtype.bits;
  std::string bytes;
  for (size_t i = 0; i < elements; ++i) {
    const unsigned byte = static_cast<unsigned char>(packed[i / per_byte]);
    const unsigned bits = byte >> (i % per_byte * dtype.bits) & ((1U << dtype.bits) - 1);
    const bool is_negative = dtype.is_int() && (bits >> (dtype.bits - 1)) != 0;
    bytes.push_back(static_cast<char>(is_negative ? bits | (0xffU << dtype.bits) : bits));
  }
  return bytes;
}

}  // namespace

Result<std::shared_ptr<const NDArray>> DecodeArray(std::string_view base64, TextVersion version) {
  std::string storage;
  if (!DecodeBase64(base64, storage)) return Damaged("an array is not in base64");
  const auto damaged = [] { return Damaged("an array is damaged"); };
  std::string_view bytes = storage;
  ArrayHeader header;
  const uint64_t magic = header.magic;
  if (bytes.size() < sizeof header) return damaged();
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  if (header.magic != magic || header.ndim < 0 || bytes.size() < (static_cast<size_t>(header.ndim) + 1) * 8)
    return damaged();
  DataType dtype;
  const bool has_own = version < kDlpackTypes;
  for (const auto& [code, number, own_number] : kTypeCodes) {
    if ((has_own ? own_number : number) == header.type_code) dtype = DataType::Make(code, header.bits, header.lanes);
  }
  if (!has_own && header.type_code == kBoolCode) dtype = DataType::Bool();
  if (!IsStoredType(dtype)) return Damaged("an array has an unknown element type");
  std::vector<int64_t> shape(static_cast<size_t>(header.ndim));
  int64_t size = dtype.bytes();
  for (size_t i = 0; i < shape.size(); ++i) {
    std::memcpy(&shape[i], bytes.data() + 8 * i, 8);
    if (shape[i] < 0 || __builtin_mul_overflow(size, shape[i], &size)) return damaged();
  }
  bytes.remove_prefix(8 * shape.size() + 8);
  std::string unpacked;
  if (IsPacked(dtype, version)) {
    const auto elements = static_cast<size_t>(size);
    const size_t per_byte = 8 / dtype.bits;
    if (elements / per_byte + (elements % per_byte != 0 ? 1 : 0) != bytes.size()) return damaged();
    unpacked = Unpacked(bytes, dtype, elements);
    bytes = unpacked;
  }
  if (static_cast<uint64_t>(size) != bytes.size()) return damaged();
  const std::shared_ptr<NDArray> array = NDArray::Make(dtype, shape);
  std::memcpy(array->mutable_data(), bytes.data(), bytes.size());
  // The bits above an element are those of its sign here.
  if (dtype.bits < 8 && !dtype.is_bool()) {
    for (std::byte& byte : std::span(array->mutable_data(), bytes.size()))
      byte = StoreNarrow(LoadNarrow(byte, dtype), dtype, {});
  }
  return array;
}

void EncodeArray(const NDArray& array, FunctionRef<void(std::string_view)> append, TextVersion version) {
  ArrayHeader header;
  header.ndim = static_cast<int32_t>(array.shape().size());
  for (const auto& [code, number, own_number] : kTypeCodes) {
    if (code == array.dtype().code) header.type_code = version < kDlpackTypes ? own_number : number;
  }
  header.bits = array.dtype().bits;
  if (array.dtype().is_bool() && version >= kBoolType) {
    header.type_code = kBoolCode;
    header.bits = 8;
  }
  const std::string packed = IsPacked(array.dtype(), version) ? Packed(array) : std::string();
  const std::string_view elements =
      packed.empty() ? std::string_view(reinterpret_cast<const char*>(array.data()), array.num_bytes()) : packed;
  const auto size = static_cast<int64_t>(elements.size());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(array.shape().data()), array.shape().size() * 8);
  bytes.append(reinterpret_cast<const char*>(&size), 8);
  bytes.append(elements);
  EncodeBase64(bytes, append);
}

const ObjectAttr* MakeArrayAttr(const NDArray& array) {
  std::string text;
  EncodeArray(array, [&](std::string_view part) { text += part; });
  const Attr* const fields[] = {StrAttr::Get(text)};
  return ObjectAttr::Get(kArrayKey, {{kArrayField}}, fields);
}

}  // namespace iropt
