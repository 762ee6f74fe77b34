// The passes of passes.def. For pipelines that are built in C++, there is a function for each; options that are not
// given have their defaults:
//
//   Sequential({transform::FoldConstant(), transform::EliminateCommonSubexpr({.call_only = true})})
//
// A pass that refuses the value of an option fails when it is run.
#pragma once

#include "iropt/pass/registry.h"
#include "iropt/transform/pass_calls.h"

namespace iropt {

// Adds every row of passes.def, configs.def, pipelines.def and names.def.
Status RegisterAllPasses(PassRegistry& registry);

// A registry with these rows, which is made once in a process. A copy takes no time, and can get others.
const PassRegistry& AllPasses();

}  // namespace iropt
