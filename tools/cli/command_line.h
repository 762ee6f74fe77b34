// What the command lines of all tools have in common: the pages about the tool, and the way from arguments to the run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/completion.h"
#include "cli/tool.h"
#include "cli/tool_description.h"
#include "iropt/support/result.h"

namespace iropt {

// The values of the flags of page_flags.def.
struct PageFlags {
  std::string help;  // the page; empty: not asked for
  bool help_all = false;
  std::string completion;  // a shell; empty: not asked for
  bool man_page = false;
  bool version = false;

  bool Any() const { return !help.empty() || help_all || !completion.empty() || man_page || version; }
};

// Prints a help, or reports why there is none; the exit code.
int PrintHelp(std::string_view name, const Result<std::string>& text);

// Prints the page that is asked for and returns the exit code; nothing if none is.
std::optional<int> ShowPage(const ToolDescription& tool, const PageFlags& pages);

// Runs a tool on its arguments. `parse` makes a command line of them, which has the member `pages`.
template <class Parse, class Run>
int RunCommandLine(const ToolDescription& tool, const std::vector<std::string>& arguments, Parse parse, Run run) {
  if (const auto completions = CompleteFor(tool.flags, arguments)) return PrintToStdout(tool.name, *completions);
  const auto line = ParseWithDefaults(arguments, parse);
  if (!line.ok()) return ReportUsageError(tool.name, line.error());
  if (const auto code = ShowPage(tool, line->pages)) return *code;
  return run(*line);
}

}  // namespace iropt
