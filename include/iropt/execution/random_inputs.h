// Random values of inputs.
#pragma once

#include <cstdint>
#include <span>

#include "iropt/execution/entry.h"
#include "iropt/runtime/random.h"

namespace iropt {

enum class InputValues : uint8_t {
  kOrdinary,   // floats with which activations neither overflow nor vanish
  kSpecial,    // with zeros of both signs, negative and large numbers
  kNonFinite,  // with some NaNs and infinities
};

// Both are included. The default serves as indices.
struct IntegerRange {
  int64_t min = 0;
  int64_t max = 3;
};

struct RandomOptions {
  InputValues values = InputValues::kOrdinary;
  IntegerRange integers = {};
  double scale = 1;                             // of ordinary floats
  bool is_dense = false;                        // non-finite floats are frequent
  bool has_extremes = false;                    // integers of any size, and those at the ends of their dtype
  std::span<const int64_t> near_integers = {};  // most integers are one of them, or next to one
  std::span<const double> near_reals = {};      // many special floats are one of them, or near to one
};

// The seed of an input depends on its name, not on the other inputs.
RandomSource RandomSourceOf(const EntryInput& input, uint64_t seed);

// A random tensor of a dtype that host tensors support. Ordinary floats have a variance of 1 / fan-in if the rank is 2
// or higher, otherwise they are in [0.5, 1.5). O(elements).
Tensor MakeRandomTensor(DataType dtype, std::span<const int64_t> dims, RandomSource random,
                        const RandomOptions& options = {});

}  // namespace iropt
