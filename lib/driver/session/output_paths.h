// The paths that the modules of the inputs are written to.
#pragma once

#include <string>
#include <vector>

#include "iropt/driver/driver_options.h"
#include "iropt/support/result.h"

namespace iropt {

// An input, and the file for its module.
struct InputOutput {
  std::string input;   // "-" is the standard input
  std::string output;  // "-" is the standard output
};

// Returns whether the run writes the modules of its inputs.
bool WritesModules(const DriverOptions& options);

// The inputs in their order. If the output ends in '/', it is a folder, and each module goes to a file in it that is
// called as the input. Fails if several inputs have no folder to be written to, or if two
// would be written to the same file.
Result<std::vector<InputOutput>> PairInputs(const DriverOptions& options);

}  // namespace iropt
