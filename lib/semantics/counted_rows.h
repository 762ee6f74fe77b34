// Outputs of which only the first rows count.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "function_runner.h"
#include "iropt/ir/relax/expr.h"

namespace iropt {

// An output that has a row for each candidate of an operator, see IROPT_LEGALIZE_COUNTED.
struct CountedRows {
  size_t output;
  std::optional<size_t> count;  // the output that says how many rows count
};

// The outputs that the function returns as operators gave them, at most in tuples and under other names. O(nodes).
std::vector<CountedRows> FindCountedRows(const Function& function);

// The expected outcome with only as many of these rows as there are in `got`, if these are all that count: as many as
// the number of rows says, or, where that is not an output, all but zeros.
RunOutcome OnlyCountedRows(RunOutcome expected, const RunOutcome& got, const std::vector<CountedRows>& counted);

}  // namespace iropt
