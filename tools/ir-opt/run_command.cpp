#include "run_command.h"

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
#include "iropt/driver/schema.h"
#include "man_page.h"
#include "topics.h"

namespace iropt {

namespace {

int Print(std::string_view text) { return PrintToStdout(kIrOpt, text); }

bool AsksForCatalog(const CommandLine& line) {
  return line.help_pass || line.print_man_page || !line.list_passes.empty() || !line.list_pipelines.empty() ||
         !line.list_instruments.empty() || !line.list_configs.empty() || !line.list_properties.empty() ||
         !line.list_targets.empty() || !line.print_schema.empty();
}

// Prints the requested list, including entries of plugins.
Result<std::string> RenderCatalog(const CommandLine& line) {
  CompilerInstance compiler;
  IROPT_RETURN_IF_ERROR(compiler.LoadPlugins(line.driver.plugins));
  const PassRegistry& registry = compiler.registry();
  if (!line.print_schema.empty()) return RenderSchema(line.print_schema, registry);
  if (line.help_pass) return DescribePass(*line.help_pass, registry);
  if (line.list_passes == "markdown") return RenderPassesMarkdown(registry);
  if (line.list_passes == "json") return RenderPassesJson(registry);
  if (line.list_passes == "text") return RenderPasses(registry);
  if (line.list_instruments == "json") return RenderInstrumentsJson(registry);
  if (line.list_instruments == "text") return RenderInstruments(registry);
  if (line.list_pipelines == "json") return RenderPipelinesJson(registry);
  if (line.list_pipelines == "text") return RenderPipelines(registry);
  if (line.list_configs == "json") return RenderConfigsJson(registry);
  if (line.list_configs == "text") return RenderConfigs(registry);
  if (line.list_properties == "json") return RenderPropertiesJson(registry);
  if (line.list_properties == "text") return RenderProperties(registry);
  if (line.list_targets == "json") return RenderTargetsJson();
  if (line.list_targets == "text") return RenderTargets();
  return RenderIrOptManPage(registry);
}

int RunEval(const CommandLine& line) {
  return EvalExpression(line.driver.compiler, line.driver.plugins,
                        {.text = *line.eval, .assumptions = line.assumptions, .as_json = line.eval_format == "json"});
}

}  // namespace

int RunIrOpt(const std::vector<std::string>& arguments) {
  if (const auto completions = CompleteFor(Flags(), arguments)) return Print(*completions);
  const Result<CommandLine> line = ParseCommandLine(arguments);
  if (!line.ok()) return ReportUsageError(kIrOpt, line.error());
  if (line->help) return Print(RenderHelp());
  if (line->help_all) return Print(RenderHelpAll());
  if (line->help_pipelines) return Print(kPipelines);
  if (line->print_version) return Print("ir-opt " IROPT_VERSION "\n");
  if (!line->print_completion.empty()) return Print(CompletionScript(kIrOpt, line->print_completion));
  if (line->eval) return RunEval(*line);
  if (!line->diff.empty()) return DiffModules(DiffOptionsOf(*line));
  if (line->query) return RunQuery(QueryOptionsOf(*line));
  if (line->build.cache_dir || line->build.writes_dependencies) return RunBuildStep(line->driver, line->build);
  if (!AsksForCatalog(*line)) return RunDriver(line->driver);
  const Result<std::string> text = RenderCatalog(*line);
  return text.ok() ? Print(*text) : ReportToolError(kIrOpt, text.error());
}

}  // namespace iropt
