// ir-opt: reads a module, runs passes, prints the module.
#include <string>
#include <string_view>
#include <vector>

#include "cli/completion.h"
#include "cli/tool.h"
#include "command_line.h"
#include "flag_table.h"
#include "help.h"
#include "iropt/driver/catalog.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/diff_modules.h"
#include "iropt/driver/driver.h"
#include "iropt/driver/eval_expression.h"
#include "man_page.h"
#include "topics.h"

namespace {

using iropt::CommandLine;

constexpr std::string_view kName = "ir-opt";

int PrintToStdout(std::string_view text) { return iropt::PrintToStdout(kName, text); }

bool AsksForCatalog(const CommandLine& line) {
  return line.help_pass || line.print_man_page || !line.list_passes.empty() || !line.list_pipelines.empty() ||
         !line.list_instruments.empty() || !line.list_configs.empty() || !line.list_properties.empty() ||
         !line.list_targets.empty();
}

// Prints the requested list, including entries of plugins.
iropt::Result<std::string> RenderCatalog(const CommandLine& line) {
  iropt::CompilerInstance compiler;
  IROPT_RETURN_IF_ERROR(compiler.LoadPlugins(line.driver.plugins));
  const iropt::PassRegistry& registry = compiler.registry();
  if (line.help_pass) return iropt::DescribePass(*line.help_pass, registry);
  if (line.list_passes == "markdown") return iropt::RenderPassesMarkdown(registry);
  if (line.list_passes == "json") return iropt::RenderPassesJson(registry);
  if (line.list_passes == "text") return iropt::RenderPasses(registry);
  if (line.list_instruments == "json") return iropt::RenderInstrumentsJson(registry);
  if (line.list_instruments == "text") return iropt::RenderInstruments(registry);
  if (line.list_pipelines == "json") return iropt::RenderPipelinesJson(registry);
  if (line.list_pipelines == "text") return iropt::RenderPipelines(registry);
  if (line.list_configs == "json") return iropt::RenderConfigsJson(registry);
  if (line.list_configs == "text") return iropt::RenderConfigs(registry);
  if (line.list_properties == "json") return iropt::RenderPropertiesJson(registry);
  if (line.list_properties == "text") return iropt::RenderProperties(registry);
  if (line.list_targets == "json") return iropt::RenderTargetsJson();
  if (line.list_targets == "text") return iropt::RenderTargets();
  return iropt::RenderIrOptManPage(registry);
}

int RunEval(const CommandLine& line) {
  return iropt::EvalExpression(
      line.driver.compiler, line.driver.plugins,
      {.text = *line.eval, .assumptions = line.assumptions, .as_json = line.eval_format == "json"});
}

int RunCommand(const std::vector<std::string>& arguments) {
  if (const auto completions = iropt::CompleteFor(iropt::Flags(), arguments)) return PrintToStdout(*completions);
  const iropt::Result<CommandLine> line = iropt::ParseCommandLine(arguments);
  if (!line.ok()) return iropt::ReportUsageError(kName, line.error());
  if (line->help) return PrintToStdout(iropt::RenderHelp());
  if (line->help_all) return PrintToStdout(iropt::RenderHelpAll());
  if (line->help_pipelines) return PrintToStdout(iropt::kPipelines);
  if (line->print_version) return PrintToStdout("ir-opt " IROPT_VERSION "\n");
  if (!line->print_completion.empty()) return PrintToStdout(iropt::CompletionScript(kName, line->print_completion));
  if (line->eval) return RunEval(*line);
  if (!line->diff.empty()) return iropt::DiffModules(iropt::DiffOptionsOf(*line));
  if (!AsksForCatalog(*line)) return iropt::RunDriver(line->driver);
  const iropt::Result<std::string> text = RenderCatalog(*line);
  return text.ok() ? PrintToStdout(*text) : iropt::ReportToolError(kName, text.error());
}

}  // namespace

int main(int argc, char** argv) { return iropt::RunTool(kName, argc, argv, RunCommand); }
