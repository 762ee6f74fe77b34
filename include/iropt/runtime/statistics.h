// Summary statistics of tensors.
#pragma once

#include <cstdint>
#include <string>

#include "iropt/ir/ndarray.h"

namespace iropt {

struct TensorStatistics {
  // Over the finite elements; 0 if there are none.
  double min = 0;
  double max = 0;
  double mean = 0;
  int64_t num_finite = 0;
  int64_t num_nan = 0;
  int64_t num_infinite = 0;
};

// O(elements).
TensorStatistics StatisticsOf(const NDArray& tensor);
// "min -1, max 3.5, mean 0.25, 2 NaN".
std::string DescribeStatistics(const TensorStatistics& statistics);

}  // namespace iropt
