// All passes in passes.def: functions that create them, and factories for the registry.
#pragma once

#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/registry.h"

namespace iropt {

// Creates a pass from options that the registry has checked.
#define IROPT_PASS(Kind, Id, ...) Pass Create##Id(const PassOptions& options);
#include "passes.def"

// Adds every row of passes.def, pass_aliases.def, configs.def and pipelines.def.
Status RegisterAllPasses(PassRegistry& registry);

// A function for each pass, for pipelines that are built in C++:
//
//   Sequential({transform::FoldConstant(), transform::EliminateCommonSubexpr({{"call_only", true}})})
//
// Unknown options, and options of a wrong type, are a bug.
namespace transform {

#define IROPT_PASS(Kind, Id, ...) Pass Id(OptionValue::Dict options = {});
#include "passes.def"

}  // namespace transform

}  // namespace iropt
