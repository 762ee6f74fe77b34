#include "compare_outcomes.h"

#include <fmt/format.h>

#include <algorithm>

namespace iropt {

OutcomeComparison CompareOutcomes(const RunOutcome& got, const RunOutcome& expected, bool is_narrower,
                                  const ToleranceOptions& options) {
  OutcomeComparison result;
  if (got.outputs.size() != expected.outputs.size()) {
    result.differences.push_back(
        fmt::format("there are {} outputs, expected {}", got.outputs.size(), expected.outputs.size()));
    return result;
  }
  if (!got.is_written) result.differences.emplace_back("an output has uninitialized elements");
  if (got.num_lines != expected.num_lines)
    result.differences.push_back(fmt::format("{} lines are printed, expected {}", got.num_lines, expected.num_lines));
  const RunPrecision precision{std::max(got.precision.accumulation, expected.precision.accumulation),
                               is_narrower || expected.precision.has_narrow_floats};
  for (size_t i = 0; i < got.outputs.size(); ++i) {
    const NDArray& want = *expected.outputs[i].tensor;
    Tensor have = got.outputs[i].tensor;
    if (is_narrower && have->dtype().is_floating() && want.dtype().is_floating())
      have = ConvertFloats(have, want.dtype());
    const Tolerance tolerance = ToleranceFor(want, precision, options);
    const Comparison comparison = CompareTensors(*have, want, tolerance);
    const std::string& name = expected.outputs[i].name;
    result.outputs.push_back(OutputErrors::Of(name, comparison, tolerance));
    if (!comparison.ok()) result.differences.push_back(DescribeDifference(name, comparison, *have, want, tolerance));
  }
  return result;
}

}  // namespace iropt
