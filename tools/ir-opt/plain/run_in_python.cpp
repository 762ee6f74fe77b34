// This build cannot start Python: the tool itself reports that it loads no plugins.
#include "ir-opt/run_in_python.h"

#include "ir-opt/run_command.h"

namespace iropt {

bool HasPythonPlugin(const std::vector<std::string>&) { return false; }

int RunInPython(const std::vector<std::string>& arguments) { return RunIrOpt(arguments); }

}  // namespace iropt
