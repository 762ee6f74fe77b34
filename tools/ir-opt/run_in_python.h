// Runs with plugins that are written in Python: the command line is that of the Python package then.
#pragma once

#include <string>
#include <vector>

namespace iropt {

// Returns whether -load-pass-plugin names a file of Python.
bool HasPythonPlugin(const std::vector<std::string>& arguments);

// Ends this program and begins `python3 -m iropt.opt` with the arguments, where the package of this build or
// installation is found first. The environment variable IROPT_PYTHON names another interpreter. Returns the exit code
// if there is no interpreter.
int RunInPython(const std::vector<std::string>& arguments);

}  // namespace iropt
