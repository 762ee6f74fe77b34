// The parsed command line of a run.
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.h"
#include "iropt/driver/build_step.h"
#include "iropt/driver/driver_options.h"
#include "iropt/support/result.h"

namespace iropt {

struct Mode;

// The values of the flags. A flag of flags.def sets the member that its row names.
struct CommandLine {
  CommandLine() { compiler.threads = 0; }

  CompilerOptions compiler;  // those of `driver` once all flags are parsed
  DriverOptions driver;
  BuildStepOptions build;
  std::optional<std::string> cache_size;
  std::string print_pipeline;  // empty if the flag is not there, as below
  std::string verify_diagnostics;
  std::optional<std::string> bisect;
  std::string lint;
  std::string diagnostics = "text";
  std::string colour = "auto";
  std::string progress = "auto";
  bool help_pipelines = false;
  PageFlags pages;
};

// Parses the words after the name of the program; the error names the wrong one. A mode takes only some of the flags;
// null: there is none.
Result<CommandLine> ParseRun(const Arguments& arguments, const Mode* mode);

// Does what the line says, but for its pages.
int RunLine(const CommandLine& line);

}  // namespace iropt
