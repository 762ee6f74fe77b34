// Comparison of what a function computes before and after passes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "function_runner.h"
#include "iropt/runtime/compare.h"

namespace iropt {

// The greatest errors of an output.
struct OutputErrors {
  std::string name;  // out0, out1, ...
  double max_absolute = 0;
  double max_relative = 0;
  int64_t num_nan_mismatches = 0;

  // Takes the greater errors of both, and the sum of the mismatches.
  void Add(const OutputErrors& more);
};

struct OutcomeComparison {
  std::vector<OutputErrors> outputs = {};
  std::vector<std::string> differences = {};  // what is wrong, a line each
};

// Compares the outcomes of two runs that have not failed. Floats may differ by a tolerance for their dtype, which grows
// with the square root of the number of operations that lead to an output, as rounding errors do, and is relative to
// the median of what the output holds. With `is_narrower`, floats were computed in float16; with `changes_dtypes`, they
// may have another dtype. O(elements).
OutcomeComparison CompareOutcomes(const RunOutcome& got, const RunOutcome& expected, bool is_narrower,
                                  bool changes_dtypes);

}  // namespace iropt
