#include "ir-opt/run_command.h"

#include "cli/completion.h"
#include "cli/tool.h"
#include "ir-opt/command_line.h"
#include "ir-opt/flag_table.h"
#include "ir-opt/help.h"
#include "ir-opt/man_page.h"
#include "ir-opt/modes/mode.h"
#include "iropt/driver/compiler_instance.h"

namespace iropt {

namespace {

Result<CommandLine> ParseWithoutMode(const Arguments& arguments) { return ParseRun(arguments, nullptr); }

// Some pages have more than those of other tools.
int RunLineOrPage(const CommandLine& line) {
  const PageFlags& pages = line.pages;
  if (pages.help_all) return PrintHelp(kIrOpt, RenderIrOptHelpAll());
  if (pages.help.empty() && !pages.man_page) return ShowPage(Description(), pages).value_or(-1);
  CompilerInstance compiler;
  if (const Status loaded = compiler.LoadPlugins(line.driver.pipeline.plugins); !loaded.ok())
    return ReportToolError(kIrOpt, loaded.error());
  if (!pages.help.empty()) return PrintHelp(kIrOpt, RenderIrOptHelpPage(pages.help, compiler.registry()));
  return PrintToStdout(kIrOpt, RenderIrOptManPage(compiler.registry()));
}

}  // namespace

int RunIrOpt(const std::vector<std::string>& arguments) {
  const bool completes = !arguments.empty() && arguments[0] == "-complete";
  if (completes) {
    const auto flags = FlagsOfLine(arguments.size() > 1 ? arguments[1] : "");
    return PrintToStdout(kIrOpt, *CompleteFor(flags, arguments));
  }
  std::vector<std::string> words = arguments;
  if (const Mode* mode = FindMode(words)) return mode->run(*mode, words);
  if (const Status known = CheckCommand(words); !known.ok()) return ReportUsageError(kIrOpt, known.error());
  const Result<CommandLine> line = ParseWithDefaults(words, ParseWithoutMode);
  if (!line.ok()) return ReportUsageError(kIrOpt, line.error());
  return line->pages.Any() ? RunLineOrPage(*line) : RunLine(*line);
}

}  // namespace iropt
