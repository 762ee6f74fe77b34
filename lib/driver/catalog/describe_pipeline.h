// -help-pass for named pipelines.
#pragma once

#include <string>
#include <string_view>

#include "iropt/pass/registry.h"

namespace iropt {

// Describes a named pipeline: for each of its levels the passes with their summaries, what it adds for targets, and the
// configuration options that change it. `name` may have a level, as in pipelines: "default<O2>". Empty if the registry
// has no such pipeline.
std::string DescribePipeline(std::string_view name, const PassRegistry& registry);

}  // namespace iropt
