// The hash of bytes that files record: XXH3 with 128 bits, which `xxhsum -H128` prints. Unlike the hashes of
// support/hash.h it does not change between versions. It finds damage, not forgery.
// Source: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "iropt/support/function_ref.h"

namespace iropt {

struct DataHash {
  uint64_t high = 0;
  uint64_t low = 0;

  friend bool operator==(const DataHash&, const DataHash&) = default;

  // 32 hexadecimal digits.
  std::string Digits() const;
  // The name of the algorithm and the digits, "xxh128:99aa06d3014798d86001c324468d497f", and back.
  std::string ToString() const;
  static std::optional<DataHash> Parse(std::string_view text);
};

// O(bytes).
DataHash HashData(std::span<const std::byte> bytes);
// Hashes bytes that may not fit in memory: after each part, `done` is called with it. O(bytes).
DataHash HashData(std::span<const std::byte> bytes, FunctionRef<void(std::string_view)> done);

}  // namespace iropt
