// What ir-opt does besides running a pipeline and printing the module: `ir-opt diff A B` and so on. A mode has flags
// and help of its own. The first word of the command line names it, or a flag leads there, such as -diff.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/compiler_flags.h"
#include "cli/flag_parser.h"
#include "cli/tool_description.h"
#include "iropt/driver/flags.h"
#include "iropt/support/result.h"

namespace iropt {

struct Mode {
  std::string_view name;
  std::string_view title;  // "ir-opt diff"
  std::string_view usage;  // its arguments: "A B"
  std::string_view summary;
  std::string_view examples;
  std::span<const std::string_view> selectors;  // flags of ir-opt that lead to it
  // A flag that stands for the name of the mode, with the first argument as its value if it takes one; empty: the mode
  // has a command line of its own.
  std::string_view flag = {};
  bool flag_takes_argument = false;
  std::span<const Flag> (*flags)();
  int (*run)(const Mode& mode, const std::vector<std::string>& words);
};

extern const Mode diff_mode;
extern const Mode query_mode;
extern const Mode eval_mode;
extern const Mode list_mode;
extern const Mode verify_rules_mode;
// These run a pipeline or read modules under some of the flags of ir-opt.
extern const Mode verify_mode;
extern const Mode bisect_mode;
extern const Mode lint_mode;
extern const Mode print_pipeline_mode;
extern const Mode reproduce_mode;
extern const Mode extract_mode;

// A mode that comes first takes precedence if flags of several are given.
std::span<const Mode* const> Modes();

// The mode of a command line; null: it runs a pipeline. Removes the name of the mode from the words.
const Mode* FindMode(std::vector<std::string>& words);
// Fails if the first word is not a file, and seems to be a misspelled name of a mode.
Status CheckCommand(const std::vector<std::string>& words);
// The flags of the mode of a command line that is typed, which begins with the name of the tool.
std::span<const Flag> FlagsOfLine(std::string_view line);

// Other flags of ir-opt are refused, as having no effect with the mode.
FlagRules RulesOf(const Mode& mode);
// The message about a flag that only a mode has, in a run; empty if none has it.
std::string DescribeFlagOfMode(std::string_view name);
// The texts about the mode.
ToolDescription Describe(const Mode& mode);

// What the command lines of modes with options of their own have in common, the members of mode_flags.def.
struct ModeLine {
  std::vector<std::string> files;  // arguments after the first one
  std::string diagnostics = "text";
  std::string colour = "auto";
  PageFlags pages;
};

// Parses the flags that are bound to the members of a line.
template <class Line>
Status FinishLine(FlagParser& parser, Line& line) {
  IROPT_RETURN_IF_ERROR(parser.Parse());
  line.compiler.response_files = parser.response_files();
  TranslateDiagnosticFlags(line.diagnostics, line.colour, line.compiler);
  return {};
}

}  // namespace iropt
