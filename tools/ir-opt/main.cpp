// ir-opt: reads a module, runs passes, prints the module.
#include "cli/tool.h"
#include "run_command.h"
#include "run_in_python.h"

namespace {

int RunCommand(const std::vector<std::string>& arguments) {
  if (iropt::HasPythonPlugin(arguments)) return iropt::RunInPython(arguments);
  return iropt::RunIrOpt(arguments);
}

}  // namespace

int main(int argc, char** argv) { return iropt::RunTool(iropt::kIrOpt, argc, argv, RunCommand); }
