#include "cli/command_line.h"

#include <fmt/format.h>

#include "cli/flag_help.h"
#include "cli/man_page.h"
#include "iropt/support/version.h"

namespace iropt {

std::optional<int> ShowPage(const ToolDescription& tool, const PageFlags& pages) {
  if (pages.help || pages.help_all) return PrintToStdout(tool.name, RenderHelp(tool, pages.help_all));
  if (!pages.completion.empty()) return PrintToStdout(tool.name, CompletionScript(tool.name, pages.completion));
  if (pages.man_page) return PrintToStdout(tool.name, RenderManPage(tool));
  if (pages.version) return PrintToStdout(tool.name, fmt::format("{} {}\n", tool.name, IROPT_VERSION));
  return std::nullopt;
}

}  // namespace iropt
