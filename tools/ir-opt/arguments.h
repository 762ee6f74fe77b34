// The command line before its flags are understood.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "iropt/support/result.h"

namespace iropt {

// The arguments with the contents of response files (`@file`) in their places and with two dashes on every flag.
// -O3 becomes --opt-level=3, -o becomes --output. After `--` nothing is changed.
Result<std::vector<std::string>> NormalizeArguments(const std::vector<std::string>& arguments);

}  // namespace iropt
