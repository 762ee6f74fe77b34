// The parsed command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "iropt/driver/build_step.h"
#include "iropt/driver/diff_modules.h"
#include "iropt/driver/driver_options.h"
#include "iropt/driver/query.h"
#include "iropt/support/result.h"

namespace iropt {

// The values of the flags. A flag of flags.def sets the member that its row names.
struct CommandLine {
  CommandLine() { driver.compiler.threads = 0; }

  DriverOptions driver;
  BuildStepOptions build;
  std::optional<std::string> cache_size;
  std::string print_pipeline;  // empty if the flag is not there, as below
  std::string print_changed;
  std::string verify_diagnostics;
  std::string check_semantics;
  std::optional<std::string> bisect;
  std::optional<int64_t> check_semantics_budget;
  std::vector<std::string> check_semantics_inputs;
  std::optional<int64_t> check_semantics_seed;
  std::string check_semantics_compiled;
  std::optional<double> check_semantics_rtol;
  std::optional<double> check_semantics_atol;
  bool require_comparison = false;
  std::string time_passes;
  std::vector<std::string> reports;
  std::string stats;
  std::string metrics;
  std::string track_memory;
  std::string explain_pipeline;
  std::optional<std::string> pass_timeout;
  std::optional<std::string> max_rss;
  std::optional<std::string> max_ir_growth;
  std::string diagnostics = "text";
  std::string colour = "auto";
  std::string progress = "auto";
  std::string diff;
  std::optional<std::string> eval;
  std::string eval_format;
  std::vector<std::string> assumptions;
  bool help = false;
  bool help_all = false;
  bool help_pipelines = false;
  std::optional<std::string> help_pass;
  std::string list_passes;
  std::string list_pipelines;
  std::string list_instruments;
  std::string list_configs;
  std::optional<std::string> query;
  std::string query_format = "text";
  std::string print_schema;
  std::string list_properties;
  std::string list_targets;
  std::string print_completion;
  bool print_man_page = false;
  bool print_version = false;
};

// Parses the words after the name of the program, with the default flags of the environment; the error names the wrong
// one.
Result<CommandLine> ParseCommandLine(const std::vector<std::string>& words);

// Return the options of -diff and of -query, which must be given.
DiffOptions DiffOptionsOf(const CommandLine& line);
QueryOptions QueryOptionsOf(const CommandLine& line);

}  // namespace iropt
