#include "iropt/observe/sample.h"

#include <algorithm>
#include <cmath>

namespace iropt {

namespace {

// `sorted` is not empty.
double Quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

SampleSummary Summarize(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::ranges::sort(seconds);
  return {.count = seconds.size(),
          .median = Quantile(seconds, 0.5),
          .min = seconds.front(),
          .max = seconds.back(),
          .spread = Quantile(seconds, 0.75) - Quantile(seconds, 0.25)};
}

}  // namespace iropt
