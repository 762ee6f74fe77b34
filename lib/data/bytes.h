// Reading little-endian numbers and arrays from untrusted bytes.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/ndarray.h"
#include "iropt/support/result.h"

namespace iropt::data {

// Bytes, and their owner.
struct Bytes {
  std::string_view text;
  std::shared_ptr<const void> owner;
};

inline Error Malformed(std::string message) { return {ErrorCode::Usage, std::move(message)}; }

// The number at an offset, which must lie within the text as a whole.
template <class T>
T Load(std::string_view text, size_t offset = 0) {
  static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");
  T value;
  std::memcpy(&value, text.data() + offset, sizeof value);
  return value;
}

// An array from bytes in row-major order, whose number must match. No copy if they are aligned.
inline std::shared_ptr<const NDArray> MakeArray(DataType dtype, std::vector<int64_t> shape, const Bytes& bytes) {
  const auto* data = reinterpret_cast<const std::byte*>(bytes.text.data());
  const auto alignment = static_cast<uintptr_t>(dtype.bytes());
  if (reinterpret_cast<uintptr_t>(data) % alignment == 0) return NDArray::View(dtype, shape, data, bytes.owner);
  std::shared_ptr<NDArray> array = NDArray::Make(dtype, shape);
  if (array->num_bytes() != 0) std::memcpy(array->mutable_data(), data, array->num_bytes());
  return array;
}

}  // namespace iropt::data
