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

// The expected outcome with only as many selected boxes as there are in `got`, if these are all that count:
// vision.all_class_non_max_suppression gives as many rows as its type says, and LegalizeOps cuts them, as in TVM. The
// number of rows is the next output; where it is not one, the others must be zeros.
RunOutcome OnlyCountedRows(RunOutcome expected, const RunOutcome& got);

// Compares the outcomes of two runs that have not failed. Floats may differ by the tolerance for the run with more
// operations, see ToleranceFor. With `is_narrower`, passes let floats be computed in float16, and outputs may have
// another dtype. O(elements).
OutcomeComparison CompareOutcomes(const RunOutcome& got, const RunOutcome& expected, bool is_narrower,
                                  const ToleranceOptions& options);

}  // namespace iropt
