#include "cli/command_line.h"

#include <fmt/format.h>

#include "cli/flag_help.h"
#include "cli/man_page.h"
#include "iropt/support/version.h"

namespace iropt {

int PrintHelp(std::string_view name, const Result<std::string>& text) {
  return text.ok() ? PrintToStdout(name, FitHelp(*text)) : ReportToolError(name, text.error());
}

std::optional<int> ShowPage(const ToolDescription& tool, const PageFlags& pages) {
  if (pages.help_all) return PrintHelp(tool.name, RenderHelpAll(tool));
  if (!pages.help.empty()) return PrintHelp(tool.name, RenderHelpPage(tool, pages.help));
  if (!pages.completion.empty()) return PrintToStdout(tool.name, CompletionScript(tool.name, pages.completion));
  if (pages.man_page) return PrintToStdout(tool.name, RenderManPage(tool));
  if (pages.version) return PrintToStdout(tool.name, fmt::format("{} {}\n", tool.name, IROPT_VERSION));
  return std::nullopt;
}

}  // namespace iropt
