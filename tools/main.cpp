// One program with all tools: the name under which it is called decides. ir-run, ir-reduce and ir-lsp are links to
// ir-opt.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tool.h"
#include "ir-lsp/ir_lsp.h"
#include "ir-opt/run_command.h"
#include "ir-opt/run_in_python.h"
#include "ir-reduce/ir_reduce.h"
#include "ir-run/ir_run.h"

namespace {

int RunIrOptOrPython(const std::vector<std::string>& arguments) {
  return iropt::HasPythonPlugin(arguments) ? iropt::RunInPython(arguments) : iropt::RunIrOpt(arguments);
}

struct Tool {
  std::string_view name;
  int (*run)(const std::vector<std::string>& arguments);
};

constexpr Tool kTools[] = {{iropt::kIrOpt, RunIrOptOrPython},
#ifndef IROPT_PLAIN_SYSTEM
                           {"ir-reduce", iropt::RunIrReduce},
                           {"ir-lsp", iropt::RunIrLsp},
#endif
                           {"ir-run", iropt::RunIrRun}};

}  // namespace

int main(int argc, char** argv) {
  std::string_view name = argc > 0 ? argv[0] : "";
  name.remove_prefix(name.rfind('/') + 1);  // 0 without a folder
  // Distributions append versions to the names of programs.
  const auto* tool = std::ranges::find_if(kTools, [&](const Tool& row) { return name.starts_with(row.name); });
  if (tool == std::end(kTools)) tool = std::begin(kTools);
  return iropt::RunTool(tool->name, argc, argv, tool->run);
}
