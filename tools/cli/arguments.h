// The command line before its flags are parsed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"
#include "iropt/support/result.h"

namespace iropt {

// Expands response files (`@file`) and normalizes flags to two dashes. -O3 becomes --opt-level=3, -o becomes --output.
// After `--` nothing is changed. A value that is the next word and begins with a dash moves behind its flag: -eval -1
// becomes --eval=-1. Errors: a flag where a value is expected, and a value in the next word of a flag that writes a
// file beside the output.
Result<std::vector<std::string>> NormalizeArguments(const std::vector<std::string>& arguments,
                                                    std::span<const Flag> flags);

// The value of -diagnostics; empty if it is not given. The arguments need not be normalized or valid.
std::string FindDiagnosticFormat(const std::vector<std::string>& arguments);

}  // namespace iropt
