// All passes in passes.def: as functions that make them, and as factories for the registry.
#pragma once

#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/registry.h"

namespace iropt {

// Makes a pass from options that the registry has checked.
#define IROPT_PASS(Kind, Id, ...) Pass Create##Id(const PassOptions& options);
#include "passes.def"

// Adds every row of passes.def, configs.def and pipelines.def.
Status RegisterAllPasses(PassRegistry& registry);

// PassRegistry::Global() with every row of passes.def, which the first call adds. Thread-safe.
PassRegistry& AllPasses();

// Each pass as a function of its name, for pipelines that are written in C++:
//
//   Sequential({transform::FoldConstant(), transform::EliminateCommonSubexpr({{"call_only", true}})})
//
// Options that the pass does not have, or of a wrong type, are a bug.
namespace transform {

#define IROPT_PASS(Kind, Id, ...) Pass Id(OptionValue::Dict options = {});
#include "passes.def"

}  // namespace transform

}  // namespace iropt
