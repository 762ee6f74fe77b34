// The inputs of the runs that a choice of precision needs.
#pragma once

#include <string>
#include <vector>

#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/driver_options.h"
#include "iropt/execution/entry.h"
#include "iropt/runtime/value.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// The arguments of one run for each set of inputs.
struct PrecisionInputs {
  std::vector<std::vector<HostValue>> samples;
  bool is_random = false;
};

// The files that patterns with * and ? stand for, in the order of the patterns.
std::vector<std::string> ExpandPatterns(const std::vector<std::string>& patterns);

// Returns whether the function runs with these arguments.
using TrialRun = FunctionRef<bool(const std::vector<HostValue>&)>;

// Reads the files, whose names may have * and ?, or makes random inputs, which is a warning. Their symbolic dimensions
// have sizes with which the function runs, if a few trials find some. Reports what is missing or does not fit.
Result<PrecisionInputs> ReadPrecisionInputs(const Entry& entry, const PrecisionOptions& options,
                                            CompilerInstance& compiler, TrialRun runs);

}  // namespace iropt
