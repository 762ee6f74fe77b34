// The command line before its flags are parsed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "iropt/support/result.h"

namespace iropt {

// Expands response files (`@file`) and normalizes flags to two dashes. -O3 becomes --opt-level=3, -o becomes --output.
// After `--` nothing is changed.
Result<std::vector<std::string>> NormalizeArguments(const std::vector<std::string>& arguments);

// The value of -diagnostics; empty if it is not given. The arguments need not be normalized or valid.
std::string FindDiagnosticFormat(const std::vector<std::string>& arguments);

}  // namespace iropt
