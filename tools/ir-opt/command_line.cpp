#include "ir-opt/command_line.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "cli/compiler_flags.h"
#include "cli/flag_parser.h"
#include "cli/limit_flag.h"
#include "cli/tool.h"
#include "ir-opt/flag_table.h"
#include "ir-opt/modes/mode.h"
#include "ir-opt/run_command.h"
#include "ir-opt/topics.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/driver.h"
#include "iropt/pass/registry.h"
#include "iropt/support/version.h"

namespace iropt {

namespace {

// NOLINTNEXTLINE(readability-identifier-naming): GCC cannot make the table constexpr
const FlagExclusion kExclusions[] = {
    {"check-semantics", {"no-verify"}},
    {"rewrite-limit", {"verify-determinism", "checkpoint-dir", "quiet"}},
    {"repeat", {"stats"}},
    // Files that repeat a run have all of its pipeline.
    {"start-after", {"repeat", "dump-dir", "checkpoint-dir", "reproducer"}},
    {"stop-after", {"repeat", "dump-dir", "checkpoint-dir", "reproducer"}},
    {"generate-checks", {"split-input-file", "emit", "externalize-constants"}},
    {"elide-constants-larger-than",
     {"verify-roundtrip", "verify-idempotent", "checkpoint-dir", "dump-dir", "reproducer"}},
    {"cache-dir",
     {"generate-checks", "explain-pipeline", "report",           "time-passes",     "repeat",       "stats",
      "metrics",         "track-memory",     "time-trace",       "remarks",         "print-before", "print-after",
      "print-changed",   "print-trace",      "print-before-all", "print-after-all", "dump-dir",     "checkpoint-dir",
      "reproducer",      "opt-bisect-limit", "rewrite-limit",    "debug-only",      "instruments"}},
    {"precision",
     {"verify-determinism", "verify-idempotent", "cache-dir", "split-input-file", "repeat", "checkpoint-dir",
      "reproducer"}},
    {"extract", {"delete", "reproducer", "checkpoint-dir"}},
    {"delete", {"reproducer", "checkpoint-dir"}},
    {"checkpoint-dir", {"split-input-file", "opt-bisect-limit", "generate-checks"}},
};

constexpr FlagRequirement kRequirements[] = {{"output-split-marker", "split-input-file"},
                                             {"resume-from", "checkpoint-dir"},
                                             {"keep-precision", "precision", "bisect"},
                                             {"precision-objective", "precision"},
                                             {"precision-report", "precision"},
                                             {"rtol", "precision", "bisect"},
                                             {"MD", "output"},
                                             {"MF", "MD"},
                                             {"MT", "MD"},
                                             {"cache-dir", "output"},
                                             {"cache-size", "cache-dir"}};

// Checks the values of flags.
Status CheckValues(const CommandLine& line) {
  if (line.bisect && line.bisect->empty()) {
    return Error{ErrorCode::Usage, "flag '-bisect' must be verify, semantics, races, precision or a command, not ''"};
  }
  const std::string& which = line.verify_diagnostics;
  if (!which.empty() && which != "all" && which != "only-expected") {
    return Error{ErrorCode::Usage,
                 fmt::format("flag '-verify-diagnostics' must be one of all, only-expected, not '{}'", which)};
  }
  if (const std::string& emit = line.driver.output.emit; !emit.empty()) {
    const Result<const FormatRow*> format = FindOutputFormat(emit);
    if (!format.ok()) return Error{ErrorCode::Usage, fmt::format("flag '-emit': {}", format.error().message)};
  }
  if (line.driver.output.external_constants) {
    IROPT_ASSIGN_OR_RETURN(const FormatRow* format,
                           CompilerInstance::OutputFormatOf(line.driver.output.path, line.driver.output.emit));
    if (format != &Formats().front())
      return Error{ErrorCode::Usage,
                   fmt::format("flag '-externalize-constants' has no effect on output as {}", format->name)};
  }
  return {};
}

// Some flags take only one input.
Status CheckInputs(const CommandLine& line) {
  const DriverOptions& driver = line.driver;
  if (driver.more_inputs.empty()) return {};
  const std::pair<std::string_view, bool> of_one[] = {{"-bisect", line.bisect.has_value()},
                                                      {"-precision", !driver.precision.format.empty()},
                                                      {"-checkpoint-dir", driver.snapshots.checkpoint_dir.has_value()},
                                                      {"-run-reproducer", driver.pipeline.is_in_input}};
  for (const auto& [flag, is_there] : of_one) {
    if (!is_there) continue;
    return Error{ErrorCode::Usage, fmt::format("more than one input for '{}': '{}'", flag, driver.more_inputs[0])};
  }
  return {};
}

// Of "text" or "json"; anything else is a flag that is not there.
ShownForm FormOf(std::string_view word) {
  if (word == "text") return ShownForm::Text;
  return word == "json" ? ShownForm::Json : ShownForm::None;
}

// Translates -bisect: a word that is not the name of a check is a command.
BisectRequest BisectRequestOf(const CommandLine& line) {
  if (*line.bisect == "verify") return {.check = BisectRequest::Check::Verify};
  if (*line.bisect == "semantics") return {.check = BisectRequest::Check::Semantics};
  if (*line.bisect == "races") return {.check = BisectRequest::Check::Races};
  if (*line.bisect == "precision") return {.check = BisectRequest::Check::Precision};
  return {.check = BisectRequest::Check::Command, .command = *line.bisect};
}

// Reads the flags of instruments. Those about the semantic check are for -bisect as well.
Status ReadInstruments(const FlagParser& parser, CommandLine& line) {
  const bool checks_semantics = parser.IsGiven("check-semantics") || line.bisect == "semantics";
  for (const Flag& flag : InstrumentFlags()) {
    if (!parser.IsGiven(flag.name)) continue;
    IROPT_ASSIGN_OR_RETURN(std::vector<FlaggedInstrument> instruments, ReadInstrumentFlag(flag, parser.ValuesOf(flag)));
    for (FlaggedInstrument& instrument : instruments) {
      if (instrument.spec.name == "check-semantics" && !checks_semantics) {
        constexpr const char* kMessage = "flag '-{}' has no effect without '-check-semantics' or '-bisect=semantics'";
        return Error{ErrorCode::Usage, fmt::format(kMessage, flag.name)};
      }
      line.driver.flagged_instruments.push_back(std::move(instrument));
    }
  }
  return {};
}

void TranslateWords(CommandLine& line) {
  if (line.bisect) line.driver.bisect = BisectRequestOf(line);
  line.driver.precision.lints = !line.lint.empty();
  line.driver.checks.diagnostics = !line.verify_diagnostics.empty();
  line.driver.checks.only_expected = line.verify_diagnostics == "only-expected";
  line.driver.print_pipeline = FormOf(line.print_pipeline);
  // The list is one of nodes of ONNX, whatever the name of the file.
  const bool is_listed = OptionOf(&line.compiler.format_options, "list-nodes").has_value();
  if (is_listed && line.driver.output.emit.empty()) line.driver.output.emit = "onnx";
  // Other programs read the other formats.
  const bool is_text = line.diagnostics == "text";
  if (line.progress == "auto" && is_text) line.driver.progress = ProgressShown::Auto;
  if (line.progress == "always") line.driver.progress = ProgressShown::Always;
  TranslateDiagnosticFlags(line.diagnostics, line.colour, line.compiler);
}

// A program that was built again may give other results under the same version.
std::string DescribeProgram() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  const uintmax_t size = std::filesystem::file_size(path, error);
  const auto changed = std::filesystem::last_write_time(path, error).time_since_epoch();
  return fmt::format("{} {}", size, changed.count());
}

// The name of a flag that only a mode has, or of a pass.
std::string DescribeOtherName(std::string_view name) {
  const bool is_pass = PassRegistry::Global().Find(name) != nullptr;
  return is_pass ? fmt::format("unknown flag '-{0}'; the pass is run by -passes={0}", name) : DescribeFlagOfMode(name);
}

}  // namespace

Result<CommandLine> ParseRun(const Arguments& arguments, const Mode* mode) {
  CommandLine line;
  FlagRules rules = mode == nullptr ? FlagRules{.describe = DescribeOtherName} : RulesOf(*mode);
  rules.exclusions = kExclusions;
  rules.requirements = kRequirements;
  FlagParser parser(mode == nullptr ? kIrOpt : mode->title, mode == nullptr ? Flags() : mode->flags(), arguments,
                    line.driver.input, &line.driver.more_inputs, rules);
  const Flag* flag = Flags().data();
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
#include "ir-opt/flags.def"
  for (const Flag& row : InstrumentFlags()) parser.Declare(row);
  IROPT_RETURN_IF_ERROR(parser.Parse());
  line.compiler.response_files = parser.response_files();
  line.compiler.program = mode == nullptr ? kIrOpt : mode->title;
  line.compiler.command = CommandOf(line.compiler.program, arguments);
  if (mode != nullptr && mode->flag_takes_argument && !parser.IsGiven(mode->flag) && !line.pages.Any())
    return Error{ErrorCode::Usage, fmt::format("missing argument: {} {}", mode->title, mode->usage)};
  IROPT_RETURN_IF_ERROR(CheckValues(line));
  IROPT_RETURN_IF_ERROR(CheckInputs(line));
  TranslateWords(line);
  // The other flags of a build step, and the number of threads, do not change the result.
  constexpr std::string_view kOthers[] = {"output", "MD", "MF", "MT", "cache-dir", "cache-size", "threads"};
  line.build.identity = fmt::format("ir-opt {}\n{}\n{}", IROPT_VERSION, DescribeProgram(), parser.Settings(kOthers));
  int64_t cache_bytes = 0;
  IROPT_RETURN_IF_ERROR(TranslateLimit("-cache-size", line.cache_size, &ParseSize, cache_bytes));
  if (line.cache_size) line.build.cache_bytes = static_cast<uint64_t>(cache_bytes);
  IROPT_RETURN_IF_ERROR(ReadInstruments(parser, line));
  line.driver.compiler = line.compiler;
  return line;
}

int RunLine(const CommandLine& line) {
  if (line.help_pipelines) return PrintHelp(kIrOpt, std::string(kPipelines));
  if (line.build.cache_dir || line.build.writes_dependencies) return RunBuildStep(line.driver, line.build);
  return RunDriver(line.driver);
}

}  // namespace iropt
