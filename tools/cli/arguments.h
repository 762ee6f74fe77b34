// The command line before its flags are parsed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/driver/flags.h"
#include "iropt/support/result.h"

namespace iropt {

// Arguments of a tool.
struct Arguments {
  std::vector<std::string> defaults;  // flags of the environment, which those of the command line replace
  std::vector<std::string> words;     // the command line after the name of the program
};

// The environment variable with default flags, as words of a shell: those of ir-opt, of which other tools take the ones
// that they have, too.
inline constexpr const char* kFlagsVariable = "IROPT_FLAGS";

// The command of a tool with all of its arguments, as a shell takes it.
std::string CommandOf(std::string_view tool, const Arguments& arguments);

// The words of the variable; empty if it is not set.
Result<std::vector<std::string>> DefaultFlags();

// Parses a command line with the default flags by `parse`, a Result<...>(const Arguments&). An error that the command
// line alone does not have names the variable.
template <class Parse>
auto ParseWithDefaults(const std::vector<std::string>& words, Parse parse) -> decltype(parse(Arguments())) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<std::string> defaults, DefaultFlags());
  if (defaults.empty()) return parse({{}, words});
  const bool is_own_error = !parse({{}, words}).ok();
  auto parsed = parse({defaults, words});  // the last one sets the format of messages
  if (parsed.ok() || is_own_error) return parsed;
  return Error{parsed.error().code, std::string(kFlagsVariable) + ": " + parsed.error().message};
}

// The words with those of response files (`@file`) instead of their names, which are appended to `files`.
Result<std::vector<std::string>> ExpandResponseFiles(const std::vector<std::string>& words,
                                                     std::vector<std::string>& files);

// Expands response files and normalizes flags to two dashes. -O3 becomes --opt-level=3, -o becomes --output.
// After `--` nothing is changed. A value that is the next word and begins with a dash moves after its flag: -eval -1
// becomes --eval=-1. Errors: a flag, or one of others, where a value is expected, and a value in the next word of a
// flag that writes a file next to the output. Appends the paths of the response files to `response_files`.
Result<std::vector<std::string>> NormalizeArguments(const std::vector<std::string>& arguments,
                                                    std::span<const Flag> flags,
                                                    std::vector<std::string>& response_files,
                                                    std::span<const Flag> others = {});

// The value of -diagnostics; empty if it is not given. The arguments need not be normalized or valid.
std::string FindDiagnosticFormat(const std::vector<std::string>& arguments);

}  // namespace iropt
