// The kinds of inputs that a function is run on before and after passes.
#pragma once

#include <cstddef>
#include <span>

#include "input_sizes.h"
#include "iropt/execution/random_inputs.h"

namespace iropt {

struct TrialPlan {
  InputValues values = InputValues::kOrdinary;
  InputForm form = InputForm::kPlain;
  size_t sizes = 0;             // the assignment that is tried first, see MakeSizes
  bool near_constants = false;  // numbers of the program, and those next to them
  bool has_extremes = false;    // integers that overflow
  bool is_dense = false;        // most floats are not finite
  bool has_indices = false;     // integers are indices of whole dimensions, often the first or the last one
  bool has_sentinel = false;    // one index is a number of the program that is outside of the dimensions
  bool counts = false;          // integers of 8 bits go through all of their values, together with other runs
  bool alternates = false;      // every second input is ordinary; in the next run the others are
  double scale = 1;             // of ordinary floats, and of those with an offset
  unsigned char fresh = 0x5a;   // the bytes of memory without a value
};

// The runs that count as the comparison of a function. A fresh memory of large, then of negative numbers, then of NaNs:
// what is added to them, or compared with them, shows.
inline constexpr TrialPlan kTrialPlans[] = {
    {.values = InputValues::kOrdinary, .sizes = 0, .fresh = 0x5a},
    {.values = InputValues::kOrdinary, .sizes = 1, .fresh = 0xda},
    {.values = InputValues::kSpecial, .sizes = 2, .fresh = 0xff},
    {.values = InputValues::kNonFinite, .sizes = 3, .fresh = 0x5a},
};

// More runs, of functions that take little time. Tiny floats are below the precision of narrower formats and below
// constants that keep divisors from being 0. Large ones are beyond the range of float16, and sums of them beyond any
// usual bound. The runs with equal numbers have all combinations of the ends of integers (InputMaker).
inline constexpr double kTinyScale = 0x1p-20;
inline constexpr double kLargeScale = 0x1p12;
// Those that count have all remainders by 4 of their numbers, so that 64 bytes have all values.
inline constexpr TrialPlan kExtraPlans[] = {
    {.values = InputValues::kSpecial, .sizes = kSizesOfOne, .near_constants = true},
    {.values = InputValues::kOrdinary, .form = InputForm::kOffset, .sizes = kOddSizes},
    {.values = InputValues::kSpecial, .form = InputForm::kTies, .sizes = 0, .counts = true},
    {.values = InputValues::kNonFinite, .form = InputForm::kMask, .sizes = 1, .alternates = true},
    {.values = InputValues::kSpecial, .form = InputForm::kMask, .sizes = 0, .alternates = true, .fresh = 0xda},
    {.values = InputValues::kSpecial, .form = InputForm::kMask, .sizes = 2, .alternates = true, .fresh = 0xff},
    {.values = InputValues::kSpecial, .form = InputForm::kNeighbours, .sizes = 0},
    {.values = InputValues::kOrdinary, .sizes = kOddSizes, .counts = true, .scale = kTinyScale, .fresh = 0xda},
    {.values = InputValues::kSpecial, .sizes = kMoreOddSizes, .has_extremes = true, .fresh = 0xff},
    {.values = InputValues::kSpecial, .sizes = kSizesNearConstants, .near_constants = true},
    {.values = InputValues::kNonFinite, .sizes = 1, .is_dense = true},
    {.values = InputValues::kSpecial, .sizes = kSizesNearConstants + 1, .near_constants = true, .fresh = 0xda},
    {.values = InputValues::kSpecial, .sizes = 0, .near_constants = true, .has_extremes = true},
    {.values = InputValues::kSpecial, .sizes = kSizesNearConstants + 2, .near_constants = true},
    {.values = InputValues::kNonFinite, .sizes = 0, .is_dense = true},
    {.values = InputValues::kSpecial, .sizes = kSizesNearConstants + 3, .near_constants = true},
    {.values = InputValues::kOrdinary, .sizes = kSizesNearConstants + 4, .near_constants = true},
    {.values = InputValues::kSpecial, .sizes = 4, .has_extremes = true},
    {.values = InputValues::kOrdinary, .sizes = 0, .has_indices = true},
    {.values = InputValues::kOrdinary, .sizes = 1, .alternates = true, .scale = kTinyScale, .fresh = 0xff},
    {.values = InputValues::kOrdinary, .sizes = 0, .counts = true, .alternates = true, .scale = kTinyScale},
    {.values = InputValues::kSpecial, .form = InputForm::kEqual, .sizes = 0},
    {.values = InputValues::kSpecial, .form = InputForm::kEqual, .sizes = 0},
    {.values = InputValues::kSpecial, .form = InputForm::kEqual, .sizes = 0},
    {.values = InputValues::kSpecial, .form = InputForm::kEqual, .sizes = 0},
    {.values = InputValues::kOrdinary, .form = InputForm::kOffset, .sizes = 1, .counts = true, .scale = kLargeScale},
    {.values = InputValues::kOrdinary, .form = InputForm::kOffset, .sizes = 0, .scale = -kLargeScale},
    {.values = InputValues::kOrdinary, .sizes = kEmptySizes},
    {.values = InputValues::kOrdinary, .sizes = 0, .has_indices = true, .has_sentinel = true},
    {.values = InputValues::kOrdinary, .sizes = kLargeSizes, .has_indices = true},
    {.values = InputValues::kNonFinite, .form = InputForm::kSparse, .sizes = 1, .fresh = 0xff},
    {.values = InputValues::kOrdinary, .form = InputForm::kTies, .sizes = 0},
    {.values = InputValues::kSpecial, .form = InputForm::kDenormal, .sizes = 1},
    {.values = InputValues::kSpecial, .form = InputForm::kDenormal, .sizes = 0, .alternates = true},
    {.values = InputValues::kOrdinary, .sizes = kPowersOfTwo},
};

}  // namespace iropt
