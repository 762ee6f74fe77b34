// Counts of numbers by sign and magnitude: eight bins for each power of two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "iropt/support/function_ref.h"

namespace iropt::precision {

// Finite numbers of float32 other than 0. A histogram takes memory for the bins between its least and its greatest
// magnitude only: some kilobytes.
class LogHistogram {
 public:
  // Infinities, NaNs and zeros are left out. O(numbers).
  void Add(std::span<const float> numbers);

  uint64_t total() const { return total_; }
  // Calls f for each bin that is not empty, in the order of the numbers from the least to the greatest one: the
  // numbers in it are from `low` up to `high`.
  void ForEachBin(FunctionRef<void(double low, double high, uint64_t count)> f) const;
  // The count of numbers whose magnitude is less than `magnitude`, or at least it; the bin that it is in counts to the
  // part in which most of the bin is.
  uint64_t CountBelow(double magnitude) const;
  uint64_t CountFrom(double magnitude) const { return total_ - CountBelow(magnitude); }
  // The magnitude that a part of the magnitudes, from 0 to 1, does not exceed, up to the width of a bin; zeros do not
  // count. 0 for an empty histogram.
  double Percentile(double part) const;

 private:
  static constexpr int kShift = 20;  // of the bits of a float: the exponent and three bits of the mantissa stay
  static constexpr size_t kBins = size_t{1} << (31 - kShift);

  // The bins of one sign, of which those before `first` and after the counts are empty.
  struct Half {
    size_t first = 0;
    std::vector<uint64_t> counts;
    void Add(const uint64_t* bins);
    uint64_t At(size_t bin) const { return bin < first || bin - first >= counts.size() ? 0 : counts[bin - first]; }
  };
  static double LowOf(size_t bin);

  std::array<Half, 2> halves_;  // positive, negative
  uint64_t total_ = 0;
};

}  // namespace iropt::precision
