// Sorting elements of any dtype by integers that have their order, so that the sorting itself is compiled once.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "iropt/ir/element.h"

namespace iropt::eval {

// Returns a number that is less than those of the elements that come after this one, and equal to those of equal
// elements: 0.0 is equal to -0.0. NaN comes after every number, as it does in NumPy, in ascending and in descending
// order.
template <class M>
uint64_t SortKey(M value, bool descending) {
  uint64_t key = 0;
  if constexpr (std::is_floating_point_v<M>) {
    if (std::isnan(value)) return UINT64_MAX;
    // The bits of floats are ordered as their magnitudes are. No number has the greatest key, nor 0.
    const auto bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : static_cast<double>(value));
    key = bits >> 63 != 0 ? ~bits : bits | uint64_t{1} << 63;
  } else if constexpr (std::is_signed_v<M>) {
    key = static_cast<uint64_t>(static_cast<int64_t>(value)) ^ uint64_t { 1 } << 63;
  } else {
    key = static_cast<uint64_t>(value);
  }
  return descending ? ~key : key;
}

struct KeyedPosition {
  uint64_t key = 0;
  int64_t position = 0;
};

// Sorts by key, and positions of equal keys in ascending order. O(n log n).
void SortByKey(std::vector<KeyedPosition>& line);

}  // namespace iropt::eval
