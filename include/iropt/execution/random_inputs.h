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

// The relation of the numbers of an input to each other. All but kPlain replace InputValues.
enum class InputForm : uint8_t {
  kPlain,
  kOffset,      // floats whose mean is a thousand times their deviation
  kTies,        // numbers between two of a narrower format; with kSpecial, multiples of 1/2, many of them equal
  kDenormal,    // numbers that are less than the least normal one
  kNeighbours,  // numbers next to each other that narrower formats and floats cannot tell apart
  kEqual,       // all elements of an input are the same number; integers are an end of their dtype
  kSparse,      // special numbers, many of them 0; with kNonFinite one of them is not finite
  kMask,        // 0 and the least number, by rows: -infinity with kNonFinite; integers of both ends of their dtype
};

// Both are included. The default serves as indices.
struct IntegerRange {
  int64_t min = 0;
  int64_t max = 3;
};

struct RandomOptions {
  InputValues values = InputValues::kOrdinary;
  InputForm form = InputForm::kPlain;          // of floats
  InputForm integer_form = InputForm::kPlain;  // with kPlain, integers are those of the range, for use as indices
  IntegerRange integers = {};
  double scale = 1;           // of ordinary floats, and of those with kOffset
  bool is_dense = false;      // non-finite floats are frequent
  bool has_extremes = false;  // integers of any size, and those at the ends of their dtype
  bool has_ends = false;      // some integers are the ends of the range, or numbers of the program
  bool has_sentinel = false;  // with has_ends, one integer is a number of the program out of the range
  bool takes_least = false;   // with kEqual, integers are the least number and not the greatest
  std::span<const int64_t> near_integers = {};  // most integers are one of them, or next to one
  std::span<const double> near_reals = {};      // many special floats are one of them, or near to one
  // With an odd number, integers of 8 bits are its multiples, further ones in each run, so that some runs have all
  // values.
  uint64_t step = 0;
  uint64_t run = 0;  // also which of near_reals is in most tensors with few elements
  // Another number, other changes of the last bits of all floats; 0 changes nothing. The least float of a mask becomes
  // one that does not overflow. With kOffset, all are multiplied by nearly 1, too.
  uint64_t perturbation = 0;
};

// The seed of an input depends on its name, not on the other inputs.
RandomSource RandomSourceOf(const EntryInput& input, uint64_t seed);

// A random tensor of a dtype that host tensors support. Ordinary floats have a variance of 1 / fan-in if the rank is 2
// or higher, otherwise they are in [0.5, 1.5). O(elements).
Tensor MakeRandomTensor(DataType dtype, std::span<const int64_t> dims, RandomSource random,
                        const RandomOptions& options = {});

}  // namespace iropt
