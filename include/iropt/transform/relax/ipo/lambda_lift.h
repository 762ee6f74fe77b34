// Makes functions of the module of those that are defined in other functions.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// The module without local functions; see lib/transform/relax/ipo/lambda_lift.cpp. Fails where a name that a function
// must have is taken, or types do not fit.
Result<Module> LambdaLift(Module module, DiagnosticEngine& diagnostics);

}  // namespace iropt
