// Scalar and vector element types, with the spellings of TVM ("float32", "int8x4", "bool", "handle", "float8_e4m3fn",
// ...).
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iropt {

// Kind of a scalar. Spellings and widths are listed in lib/ir/dtype.cpp.
enum class TypeCode : uint8_t {
  kInt,
  kUInt,
  kFloat,
  kHandle,
  kBFloat,
  kFloat8E4M3,  // e4m3fn
  kFloat8E5M2,
  kFloat4E2M1,
  // Of TVM 0.21; no tensors of them can be computed with.
  kFloat8E3M4,
  kFloat8E4M3Ieee,  // e4m3, with infinities
  kFloat8E4M3B11Fnuz,
  kFloat8E4M3Fnuz,
  kFloat8E5M2Fnuz,
  kFloat8E8M0,
  kFloat6E2M3,
  kFloat6E3M2
};

// A value type of 4 bytes: code, bits of one lane, and lanes. Scalable vectors ("float32xvscalex4") have negative
// lanes. The default is void, which stands for "unknown" in tensor types.
struct DataType {
  TypeCode code = TypeCode::kHandle;
  uint8_t bits = 0;
  int16_t lanes = 0;

  static constexpr DataType Void() { return {}; }
  static constexpr DataType Handle() { return {TypeCode::kHandle, 64, 1}; }
  static constexpr DataType Bool() { return {TypeCode::kUInt, 1, 1}; }
  static constexpr DataType Int(int bits, int lanes = 1) { return Make(TypeCode::kInt, bits, lanes); }
  static constexpr DataType UInt(int bits, int lanes = 1) { return Make(TypeCode::kUInt, bits, lanes); }
  static constexpr DataType Float(int bits, int lanes = 1) { return Make(TypeCode::kFloat, bits, lanes); }
  static constexpr DataType BFloat(int bits) { return Make(TypeCode::kBFloat, bits, 1); }
  static constexpr DataType Make(TypeCode code, int bits, int lanes) {
    return {code, static_cast<uint8_t>(bits), static_cast<int16_t>(lanes)};
  }

  // Reads TVM's spelling; nullopt if it does not name a type. "" and "void" are void.
  static std::optional<DataType> Parse(std::string_view text);
  std::string ToString() const;

  constexpr bool is_void() const { return code == TypeCode::kHandle && bits == 0; }
  constexpr bool is_handle() const { return code == TypeCode::kHandle && bits != 0; }
  constexpr bool is_bool() const { return code == TypeCode::kUInt && bits == 1; }
  constexpr bool is_int() const { return code == TypeCode::kInt; }
  constexpr bool is_uint() const { return code == TypeCode::kUInt; }
  constexpr bool is_integer() const { return is_int() || is_uint(); }
  // IEEE, brain and narrow floating point formats.
  constexpr bool is_floating() const { return code == TypeCode::kFloat || code >= TypeCode::kBFloat; }
  constexpr bool is_scalar() const { return lanes == 1; }
  constexpr bool is_scalable() const { return lanes < 0; }
  constexpr DataType with_lanes(int n) const { return Make(code, bits, n); }
  // Bytes that one element takes in a host tensor (bool takes one byte).
  constexpr int64_t bytes() const { return (static_cast<int64_t>(bits) * (lanes < 0 ? -lanes : lanes) + 7) / 8; }
  constexpr uint32_t raw() const {
    return static_cast<uint32_t>(code) | static_cast<uint32_t>(bits) << 8 |
           static_cast<uint32_t>(static_cast<uint16_t>(lanes)) << 16;
  }
  // One comparison instead of three.
  friend constexpr bool operator==(DataType a, DataType b) {
    return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
  }
};

// The message about the name of a data type that does not exist, with the nearest one.
std::string DescribeUnknownDType(std::string_view text);

}  // namespace iropt
