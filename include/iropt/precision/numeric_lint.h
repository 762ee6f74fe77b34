// Places where numbers overflow, vanish or lose digits, found by runs of a function.
#pragma once

#include <string>
#include <vector>

#include "iropt/precision/model_runs.h"
#include "iropt/precision/operators.h"

namespace iropt::precision {

struct NumericFinding {
  const Call* call;
  const Var* var;  // that is bound to it
  std::string message;
};

// Runs the function on all samples, and looks at the results of its operators:
//
//   - NaNs and infinities that operands without them give;
//   - what overflows the format, or is 0 in it, for most elements that are not 0;
//   - elements below the least normal number of float32;
//   - infinities in constants that are added to something, and constants that are infinite in the format only, because
//     a softmax of a row that has nothing else is NaN;
//   - sums and differences that are much smaller than their terms, so that the first digits cancel.
//
// In the order of the bindings.
Result<std::vector<NumericFinding>> LintNumbers(const ModelInputs& inputs, const NumberFormat& format);

}  // namespace iropt::precision
