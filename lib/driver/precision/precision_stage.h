// -precision, -bisect=precision and -lint=numeric: what the driver does with formats of operators.
#pragma once

#include "driver/precision/precision_inputs.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/driver_options.h"
#include "iropt/pass/pass.h"

namespace iropt {

// Fails if the options name an unknown format, or there is nothing to do for one of them.
Status CheckPrecisionOptions(const PrecisionOptions& options, bool bisects);

// The pass that lowers operators as the options say, prints what it has decided to the compiler's err() and writes the
// report. Both must outlive it.
Pass MakePrecisionPass(CompilerInstance& compiler, const PrecisionOptions& options, NetworkMode mode);

// Finds the least set of operators whose format breaks the tolerance, and reports it.
Status BisectPrecision(CompilerInstance& compiler, const PrecisionOptions& options, NetworkMode mode,
                       const Module& module);

// Reports where numbers overflow, vanish or lose digits.
Status LintPrecision(CompilerInstance& compiler, const PrecisionOptions& options, NetworkMode mode,
                     const Module& module);

}  // namespace iropt
