// The decisions of a generator: from a seed, or from the bytes of a fuzzer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "iropt/runtime/random.h"

namespace iropt::generate {

class Choices {
 public:
  explicit Choices(uint64_t seed) : random_(seed) {}
  // One byte for each decision. When they are used up, every decision is 0.
  explicit Choices(std::span<const uint8_t> bytes) : is_seeded_(false), bytes_(bytes) {}

  // In [0, n), with n > 0.
  int Below(int n) {
    if (is_seeded_) return static_cast<int>(random_.Next() % static_cast<uint64_t>(n));
    if (bytes_.empty()) return 0;
    const uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte % n;
  }
  bool OneIn(int n) { return Below(n) == n - 1; }

  template <class Container>
  const auto& Pick(const Container& items) {
    return items[static_cast<size_t>(Below(static_cast<int>(std::size(items))))];
  }

 private:
  bool is_seeded_ = true;
  RandomSource random_{0};
  std::span<const uint8_t> bytes_ = {};
};

}  // namespace iropt::generate
