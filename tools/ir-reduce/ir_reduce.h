// ir-reduce: finds a small module on which a command still does what it does on the input.
#pragma once

#include <string>
#include <vector>

namespace iropt {

// Runs the tool on the arguments that follow its name, and returns its exit code.
int RunIrReduce(const std::vector<std::string>& arguments);

}  // namespace iropt
