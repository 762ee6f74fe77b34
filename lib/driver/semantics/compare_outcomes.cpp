#include "compare_outcomes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "iropt/ir/element.h"

namespace iropt {

namespace {

// The tolerance of a dtype is meant for about so many operations one after the other.
constexpr double kUsualAccumulation = 4096;
// Results that are much smaller are often differences of larger numbers.
constexpr double kLeastMagnitude = 0.1;

// The median of the absolute values, without zeros and what is not finite; 1 if there is nothing else.
double MagnitudeOf(const NDArray& tensor) {
  std::vector<double> values;
  DispatchElement(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T& element : tensor.As<T>()) {
      const double value = std::abs(static_cast<double>(Element<T>::Load(element)));
      if (value != 0 && std::isfinite(value)) values.push_back(value);
    }
  });
  if (values.empty()) return 1;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Tolerance ToleranceFor(const NDArray& expected, double accumulation, bool is_narrower) {
  const DataType dtype = expected.dtype();
  Tolerance tolerance =
      Tolerance::Of(is_narrower && dtype.is_floating() && dtype.bits > 16 ? DataType::Float(16) : dtype);
  if (!dtype.is_floating()) return tolerance;
  const double growth = std::sqrt(std::max(accumulation / kUsualAccumulation, 1.0));
  tolerance.relative *= growth;
  tolerance.absolute *= growth * std::max(MagnitudeOf(expected), kLeastMagnitude);
  return tolerance;
}

}  // namespace

void OutputErrors::Add(const OutputErrors& more) {
  name = more.name;
  max_absolute = std::max(max_absolute, more.max_absolute);
  max_relative = std::max(max_relative, more.max_relative);
  num_nan_mismatches += more.num_nan_mismatches;
}

OutcomeComparison CompareOutcomes(const RunOutcome& got, const RunOutcome& expected, bool is_narrower,
                                  bool changes_dtypes) {
  OutcomeComparison result;
  if (got.outputs.size() != expected.outputs.size()) {
    result.differences.push_back(
        fmt::format("there are {} outputs, expected {}", got.outputs.size(), expected.outputs.size()));
    return result;
  }
  if (!got.is_written) result.differences.emplace_back("an output has uninitialized elements");
  if (got.num_lines != expected.num_lines)
    result.differences.push_back(fmt::format("{} lines are printed, expected {}", got.num_lines, expected.num_lines));
  const double accumulation = std::max(got.accumulation, expected.accumulation);
  for (size_t i = 0; i < got.outputs.size(); ++i) {
    const NDArray& want = *expected.outputs[i].tensor;
    Tensor have = got.outputs[i].tensor;
    if (changes_dtypes && have->dtype().is_floating() && want.dtype().is_floating())
      have = ConvertFloats(have, want.dtype());
    const Comparison comparison = CompareTensors(*have, want, ToleranceFor(want, accumulation, is_narrower));
    const std::string& name = expected.outputs[i].name;
    result.outputs.push_back({name, comparison.max_absolute, comparison.max_relative, comparison.num_nan_mismatches});
    if (!comparison.ok())
      result.differences.push_back(fmt::format("{}: {}", name, DescribeComparison(comparison, *have, want)));
  }
  return result;
}

}  // namespace iropt
