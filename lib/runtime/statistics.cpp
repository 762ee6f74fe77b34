#include "iropt/runtime/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "iropt/ir/narrow_element.h"

namespace iropt {

TensorStatistics StatisticsOf(const NDArray& tensor) {
  if (const auto wide = Widened(tensor)) return StatisticsOf(*wide);
  TensorStatistics result;
  double sum = 0;
  DispatchElement(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T element : tensor.As<T>()) {
      const auto x = static_cast<double>(Element<T>::Load(element));
      result.num_nan += std::isnan(x) ? 1 : 0;
      result.num_infinite += std::isinf(x) ? 1 : 0;
      if (!std::isfinite(x)) continue;
      result.min = result.num_finite == 0 ? x : std::min(result.min, x);
      result.max = result.num_finite == 0 ? x : std::max(result.max, x);
      sum += x;
      ++result.num_finite;
    }
  });
  if (result.num_finite != 0) result.mean = sum / static_cast<double>(result.num_finite);
  return result;
}

std::string DescribeStatistics(const TensorStatistics& statistics) {
  std::string text = "no finite elements";
  if (statistics.num_finite != 0)
    text = fmt::format("min {:.6g}, max {:.6g}, mean {:.6g}", statistics.min, statistics.max, statistics.mean);
  if (statistics.num_nan != 0) text += fmt::format(", {} NaN", statistics.num_nan);
  if (statistics.num_infinite != 0) text += fmt::format(", {} infinite", statistics.num_infinite);
  return text;
}

}  // namespace iropt
