// Comparison of what a function computes before and after passes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "function_runner.h"
#include "iropt/execution/tolerance.h"

namespace iropt {

struct OutcomeComparison {
  std::vector<OutputErrors> outputs = {};
  std::vector<std::string> differences = {};  // a line each
};

// Describes the first difference between the lines that two runs have printed, up to the last digits of numbers; empty
// if there is none.
std::string DescribeLines(const std::vector<std::string>& got, const std::vector<std::string>& expected);

// Compares the outcomes of two runs that have not failed. Floats may differ by the tolerance for the run with more
// operations, see ToleranceFor. With `is_narrower`, passes let floats be computed in float16, and outputs may have
// another dtype. O(elements).
OutcomeComparison CompareOutcomes(const RunOutcome& got, const RunOutcome& expected, bool is_narrower,
                                  const ToleranceOptions& options);

}  // namespace iropt
