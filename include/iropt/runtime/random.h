// A pseudorandom number generator with the same results on all machines.
#pragma once

#include <cstdint>

#include "iropt/support/hash.h"

namespace iropt {

// A generator whose numbers depend only on the seed. Source: splitmix64 (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014).
class RandomSource {
 public:
  explicit RandomSource(uint64_t seed) : state_(seed) {}

  uint64_t Next() { return HashMix(state_ += 0x9e3779b97f4a7c15ull); }
  // Uniform in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

  // Returns whether both give the same numbers from now on.
  friend bool operator==(const RandomSource&, const RandomSource&) = default;

 private:
  uint64_t state_;
};

}  // namespace iropt
