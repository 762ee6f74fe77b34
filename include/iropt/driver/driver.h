// ir-opt without its command line: reads modules, checks them, runs a pipeline, prints the result.
#pragma once

#include "iropt/driver/driver_options.h"

namespace iropt {

// Runs ir-opt with the options and returns the exit code (see ErrorCode). Diagnostics, notes, dumps and tables go to
// stderr; the module goes to the output when everything has succeeded, or not at all.
int RunDriver(const DriverOptions& options);

}  // namespace iropt
