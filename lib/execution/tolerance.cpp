#include "iropt/execution/tolerance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "iropt/ir/narrow_element.h"

namespace iropt {

namespace {

// Results of fewer operations are compared as they are: sums of so few do not lose small numbers.
constexpr double kFewOperations = 16;

double RootMeanSquare(const NDArray& tensor) {
  if (const auto wide = Widened(tensor)) return RootMeanSquare(*wide);
  double sum = 0;
  int64_t count = 0;
  DispatchElement(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T element : tensor.As<T>()) {
      const auto value = static_cast<double>(Element<T>::Load(element));
      if (!std::isfinite(value)) continue;
      sum += value * value;
      ++count;
    }
  });
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

}  // namespace

Tolerance ToleranceFor(const NDArray& expected, const RunPrecision& precision, const ToleranceOptions& options) {
  const DataType dtype = expected.dtype();
  const DataType computed = dtype.is_floating() ? LessPrecise(dtype, precision.least_precise) : dtype;
  Tolerance tolerance = Tolerance::For(expected, computed, precision.accumulation);
  if (precision.mixes_magnitudes && dtype.is_floating() && precision.accumulation > kFewOperations)
    tolerance.absolute = std::max(tolerance.absolute, tolerance.relative * RootMeanSquare(expected));
  if (precision.is_denormal)
    tolerance = Tolerance::ForDenormals(expected, computed, precision.accumulation).value_or(tolerance);
  tolerance.relative = options.relative.value_or(tolerance.relative);
  tolerance.absolute = options.absolute.value_or(tolerance.absolute);
  return tolerance;
}

OutputErrors OutputErrors::Of(std::string name, const Comparison& comparison, Tolerance tolerance) {
  return {std::move(name), comparison.max_absolute, comparison.max_relative, comparison.num_nan_mismatches, tolerance};
}

void OutputErrors::Add(const OutputErrors& more) {
  name = more.name;
  max_absolute = std::max(max_absolute, more.max_absolute);
  max_relative = std::max(max_relative, more.max_relative);
  num_nan_mismatches += more.num_nan_mismatches;
  tolerance.absolute = std::max(tolerance.absolute, more.tolerance.absolute);
  tolerance.relative = std::max(tolerance.relative, more.tolerance.relative);
}

std::string DescribeDifference(const std::string& name, const Comparison& comparison, const NDArray& got,
                               const NDArray& expected, Tolerance tolerance) {
  std::string text = fmt::format("{}: {}", name, DescribeComparison(comparison, got, expected));
  if (comparison.same_type && expected.dtype().is_floating())
    text += fmt::format("; tolerance {:.3g} + {:.3g} * |expected|", tolerance.absolute, tolerance.relative);
  return text;
}

std::string ErrorTableHeading() {
  return fmt::format("{:>15}{:>15}{:>10}{:>10}{:>6}{:>6}  output\n", "absolute error", "relative error", "atol", "rtol",
                     "NaNs", "runs");
}

std::string ErrorTableRow(const OutputErrors& errors, size_t num_runs, const std::string& output) {
  return fmt::format("{:>15.3g}{:>15.3g}{:>10.3g}{:>10.3g}{:>6}{:>6}  {}", errors.max_absolute, errors.max_relative,
                     errors.tolerance.absolute, errors.tolerance.relative, errors.num_nan_mismatches, num_runs, output);
}

}  // namespace iropt
