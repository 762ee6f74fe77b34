// The command line of ir-opt, for the program and for the Python package.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace iropt {

inline constexpr std::string_view kIrOpt = "ir-opt";

// Runs ir-opt on the arguments that follow its name, and returns its exit code.
int RunIrOpt(const std::vector<std::string>& arguments);

}  // namespace iropt
