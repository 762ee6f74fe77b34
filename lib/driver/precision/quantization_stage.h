// The formats of -precision that passes of quantization make.
#pragma once

#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/driver_options.h"
#include "iropt/pass/pass.h"
#include "iropt/support/result.h"

namespace iropt {

// Returns whether the format is int4-weights, int8-weights, int8-dynamic or int8.
bool IsQuantization(const PrecisionOptions& options);

// Fails if other flags do not fit such a format.
Status CheckQuantizationOptions(const PrecisionOptions& options);

// The pass of such a format for the module: operators that the user names stay. Fails if a name is malformed.
Result<Pass> MakeQuantizationPass(CompilerInstance& compiler, const PrecisionOptions& options, const Module& module);

}  // namespace iropt
