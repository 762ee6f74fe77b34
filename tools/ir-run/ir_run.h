// ir-run: reads a module, runs passes, runs a function of it on tensors.
#pragma once

#include <string>
#include <vector>

namespace iropt {

// Runs the tool on the arguments that follow its name, and returns its exit code.
int RunIrRun(const std::vector<std::string>& arguments);

}  // namespace iropt
