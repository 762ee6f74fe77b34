// Times of repeated runs.
#pragma once

#include <cstddef>
#include <vector>

namespace iropt {

// All in seconds. The spread is the interquartile range: half of the runs are within it.
struct SampleSummary {
  size_t count = 0;
  double median = 0;
  double min = 0;
  double max = 0;
  double spread = 0;
};

// Quantiles between two runs are interpolated. All zero without runs. O(runs * log(runs)).
SampleSummary Summarize(std::vector<double> seconds);

}  // namespace iropt
