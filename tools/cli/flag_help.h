// Help about flags.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "cli/tool_description.h"
#include "iropt/support/result.h"

namespace iropt {

inline constexpr size_t kFlagNameWidth = 34;
// The page of -help alone.
inline constexpr std::string_view kCommonPage = "common";

struct HelpRow {
  std::string name;
  std::string_view text;
};

// The lines of a help, broken to fit the terminal.
std::string FitHelp(std::string_view text);

// Calls `visit(flag, begins_group)` for all flags, group by group in the order in which the table begins them.
template <class Visit>
void ForEachFlag(std::span<const Flag> flags, Visit visit) {
  for (const Flag& first : flags) {
    if (std::ranges::find(flags, first.group, &Flag::group)->name != first.name) continue;
    for (const Flag& flag : flags) {
      if (flag.group == first.group) visit(flag, &flag == &first);
    }
  }
}

// A row for each flag, by group; with details, also what else there is to say.
std::string RenderFlags(std::span<const Flag> flags, bool with_details);
// The same of other things.
std::string RenderRows(std::span<const HelpRow> rows);

// The top of the help: what the tool does, and how it is called.
std::string RenderHelpHead(const ToolDescription& tool);
// The help of a tool: examples, its common flags or all of them, and where there is more, without an end of the line.
std::string RenderHelp(const ToolDescription& tool);
std::string RenderHelpAll(const ToolDescription& tool);
// The page of -help=PAGE: a group of flags, a flag, `flags` or `exit-codes`; the error suggests one.
Result<std::string> RenderHelpPage(const ToolDescription& tool, std::string_view page);

// Explanation of how flags are written.
inline constexpr std::string_view kFlagRules =
    "Flags take one dash or two, and values after '=' or as the next word. Lists are separated by commas. A flag that "
    "takes a list may be repeated, and each use adds to the list; of a flag that takes one value the last use counts, "
    "and =false turns a switch off. @FILE "
    "stands for the arguments in the file, which may be quoted as in a shell, may name further files, and may have "
    "comments from '#' to the end of the line. Arguments after '--' are not flags. "
    "The environment variable IROPT_FLAGS has default flags for ir-opt, as words of a shell; other tools take those of "
    "them that they have. A value on the command line replaces that of the variable.";

}  // namespace iropt
