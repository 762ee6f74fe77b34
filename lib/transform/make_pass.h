// What the functions of iropt/transform/pass_calls.h do.
#pragma once

#include <span>
#include <string_view>

#include "iropt/pass/option_value.h"
#include "iropt/pass/pass.h"

namespace iropt::transform {

// The pass of passes.def with these options. If it refuses their values, the pass reports why when it is run, and
// fails.
Pass MakePass(std::string_view name, std::span<const OptionValue::Entry> options = {});

}  // namespace iropt::transform
