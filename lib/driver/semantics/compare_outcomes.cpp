#include "compare_outcomes.h"

#include <fmt/format.h>

#include <algorithm>

namespace iropt {

namespace {

Tolerance ToleranceFor(const NDArray& expected, double accumulation, bool is_narrower) {
  const DataType dtype = expected.dtype();
  const bool is_half = is_narrower && dtype.is_floating() && dtype.bits > 16;
  return Tolerance::For(expected, is_half ? DataType::Float(16) : dtype, accumulation);
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
