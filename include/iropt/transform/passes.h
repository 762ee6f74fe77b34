// The factories of all passes in passes.def. Each makes a pass from options that the registry has checked.
#pragma once

#include "iropt/pass/options.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/registry.h"

namespace iropt {

#define IROPT_PASS(Kind, Id, Name, Level, Required, Options, Summary) Pass Create##Id(const PassOptions& options);
#include "passes.def"

// Adds every row of passes.def, and the default pipeline.
Status RegisterAllPasses(PassRegistry& registry);

}  // namespace iropt
