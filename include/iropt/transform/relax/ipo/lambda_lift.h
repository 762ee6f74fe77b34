// Lifts nested functions to module level.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// The module without local functions; see lib/transform/relax/ipo/lambda_lift.cpp. Fails if a required name is taken,
// or if types do not fit.
Result<Module> LambdaLift(Module module, DiagnosticEngine& diagnostics);

}  // namespace iropt
