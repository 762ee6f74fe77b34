#include "command_line.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "cli/compiler_flags.h"
#include "cli/flag_parser.h"
#include "cli/limit_flag.h"
#include "flag_table.h"
#include "iropt/driver/compiler_instance.h"

namespace iropt {

namespace {

// NOLINTNEXTLINE(readability-identifier-naming): GCC cannot make the table constexpr
const FlagExclusion kExclusions[] = {
    {"verify-only",
     {"passes",
      "pipeline",
      "opt-level",
      "disable",
      "require",
      "config",
      "print-pipeline",
      "output",
      "emit",
      "inline-constants",
      "elide-constants-larger-than",
      "externalize-constants",
      "generate-checks",
      "verify-each",
      "verify-roundtrip",
      "verify-determinism",
      "verify-idempotent",
      "check-semantics",
      "no-verify",
      "explain-pipeline",
      "repeat",
      "metrics",
      "track-memory",
      "print-before",
      "print-after",
      "print-before-all",
      "print-after-all",
      "print-changed",
      "print-trace",
      "filter-functions",
      "dump-dir",
      "checkpoint-dir",
      "run-reproducer",
      "pass-timeout",
      "max-ir-growth",
      "opt-bisect-limit",
      "rewrite-limit",
      "bisect",
      "instruments",
      "output-split-marker"}},
    {"bisect",
     {"quiet",
      "no-verify",
      "output",
      "split-input-file",
      "externalize-constants",
      "opt-bisect-limit",
      "rewrite-limit",
      "debug-only",
      "verify-diagnostics",
      "print-pipeline",
      "verify-each",
      "check-semantics",
      "verify-roundtrip",
      "verify-determinism",
      "verify-idempotent",
      "explain-pipeline",
      "report",
      "repeat",
      "time-passes",
      "stats",
      "metrics",
      "time-trace",
      "remarks",
      "print-before",
      "print-after",
      "print-before-all",
      "print-after-all",
      "print-changed",
      "print-trace",
      "dump-dir",
      "checkpoint-dir",
      "instruments",
      "emit",
      "filter-functions",
      "elide-constants-larger-than",
      "track-memory",
      "eval"}},
    {"check-semantics", {"no-verify"}},
    {"rewrite-limit", {"verify-determinism", "checkpoint-dir", "quiet"}},
    {"repeat", {"stats", "print-pipeline"}},
    // Files that repeat a run have all of its pipeline.
    {"start-after",
     {"repeat", "print-pipeline", "bisect", "dump-dir", "checkpoint-dir", "reproducer", "verify-only", "diff", "eval",
      "query"}},
    {"stop-after",
     {"repeat", "print-pipeline", "bisect", "dump-dir", "checkpoint-dir", "reproducer", "verify-only", "diff", "eval",
      "query"}},
    {"run-reproducer", {"passes", "pipeline"}},
    {"eval",
     {FlagExclusion::kInput, "passes", "pipeline", "opt-level", "output", "emit", "verify-only", "split-input-file",
      "print-pipeline", "externalize-constants", "weights", "verify-weights", "verify-diagnostics"}},
    {"verify-diagnostics", {"print-pipeline"}},
    {"generate-checks", {"split-input-file", "emit", "externalize-constants", "print-pipeline", "bisect", "eval"}},
    {"elide-constants-larger-than",
     {"verify-roundtrip", "verify-idempotent", "checkpoint-dir", "dump-dir", "reproducer"}},
    {"diff",
     {"passes",
      "pipeline",
      "opt-level",
      "disable",
      "require",
      "config",
      "target",
      "print-pipeline",
      "run-reproducer",
      "emit",
      "split-input-file",
      "externalize-constants",
      "elide-constants-larger-than",
      "generate-checks",
      "extract",
      "delete",
      "verify-only",
      "verify-each",
      "verify-roundtrip",
      "verify-determinism",
      "verify-idempotent",
      "verify-diagnostics",
      "check-semantics",
      "explain-pipeline",
      "report",
      "time-passes",
      "stats",
      "metrics",
      "track-memory",
      "time-trace",
      "remarks",
      "print-before",
      "print-after",
      "print-before-all",
      "print-after-all",
      "print-changed",
      "print-trace",
      "filter-functions",
      "dump-dir",
      "checkpoint-dir",
      "reproducer",
      "pass-timeout",
      "max-rss",
      "max-ir-growth",
      "opt-bisect-limit",
      "bisect",
      "instruments",
      "eval"}},
    {"cache-dir",
     {"print-pipeline",
      "run-reproducer",
      "verify-only",
      "generate-checks",
      "explain-pipeline",
      "report",
      "time-passes",
      "repeat",
      "stats",
      "metrics",
      "track-memory",
      "time-trace",
      "remarks",
      "print-before",
      "print-after",
      "print-before-all",
      "print-after-all",
      "print-changed",
      "print-trace",
      "dump-dir",
      "checkpoint-dir",
      "reproducer",
      "opt-bisect-limit",
      "bisect",
      "rewrite-limit",
      "debug-only",
      "instruments",
      "diff",
      "eval",
      "query"}},
    {"MD", {"print-pipeline", "verify-only", "bisect", "diff", "eval", "query"}},
    {"extract", {"delete", "verify-only", "reproducer", "checkpoint-dir", "eval"}},
    {"delete", {"verify-only", "reproducer", "checkpoint-dir", "eval"}},
    {"checkpoint-dir", {"split-input-file", "run-reproducer", "opt-bisect-limit", "generate-checks"}},
};

constexpr FlagRequirement kRequirements[] = {
    {"output-split-marker", "split-input-file"},
    {"resume-from", "checkpoint-dir"},
    {"MD", "output"},
    {"MF", "MD"},
    {"MT", "MD"},
    {"cache-dir", "output"},
    {"cache-size", "cache-dir"},
    {"assume", "eval"},
    {"eval-format", "eval"},
    {"query-format", "query"},
};

// Checks the values of flags.
Status CheckValues(const CommandLine& line) {
  if (line.bisect && line.bisect->empty()) {
    return Error{ErrorCode::Usage, "flag '-bisect' must be verify, semantics or a command, not ''"};
  }
  const std::string& compiled = line.check_semantics_compiled;
  if (!compiled.empty() && compiled != "always" && compiled != "auto" && compiled != "never") {
    return Error{
        ErrorCode::Usage,
        fmt::format("flag '-check-semantics-compiled' must be one of always, auto, never, not '{}'", compiled)};
  }
  const std::string& which = line.verify_diagnostics;
  if (!which.empty() && which != "all" && which != "only-expected") {
    return Error{ErrorCode::Usage,
                 fmt::format("flag '-verify-diagnostics' must be one of all, only-expected, not '{}'", which)};
  }
  const bool checks_semantics = !line.check_semantics.empty() || line.bisect == "semantics";
  const std::pair<std::string_view, bool> of_checks[] = {
      {"-check-semantics-budget", line.check_semantics_budget.has_value()},
      {"-check-semantics-compiled", !line.check_semantics_compiled.empty()},
      {"-check-semantics-inputs", !line.check_semantics_inputs.empty()},
      {"-check-semantics-rtol", line.check_semantics_rtol.has_value()},
      {"-check-semantics-atol", line.check_semantics_atol.has_value()},
      {"-check-semantics-seed", line.check_semantics_seed.has_value()},
      {"-require-comparison", line.require_comparison}};
  for (const auto& [flag, is_there] : of_checks) {
    if (checks_semantics || !is_there) continue;
    return Error{ErrorCode::Usage,
                 fmt::format("flag '{}' has no effect without '-check-semantics' or '-bisect=semantics'", flag)};
  }
  if (!line.check_semantics_inputs.empty()) {
    const Result<InputKinds> inputs = InputKinds::Of(line.check_semantics_inputs);
    if (!inputs.ok())
      return Error{ErrorCode::Usage, fmt::format("flag '-check-semantics-inputs': {}", inputs.error().message)};
  }
  if (line.driver.externalize_constants) {
    IROPT_ASSIGN_OR_RETURN(const FormatRow* format,
                           CompilerInstance::OutputFormatOf(line.driver.output, line.driver.emit));
    if (format != &Formats().front())
      return Error{ErrorCode::Usage,
                   fmt::format("flag '-externalize-constants' has no effect on output as {}", format->name)};
  }
  return {};
}

// Checks the number of inputs: -diff takes two, some flags take only one.
Status CheckInputs(const CommandLine& line) {
  const std::vector<std::string>& more = line.driver.more_inputs;
  if (!line.diff.empty()) {
    if (more.size() == 1) return {};
    return Error{ErrorCode::Usage,
                 fmt::format("flag '-diff' compares two files, but is given {}", more.empty() ? 1 : more.size() + 1)};
  }
  if (more.empty()) return {};
  const std::pair<std::string_view, bool> of_one[] = {{"-bisect", line.bisect.has_value()},
                                                      {"-checkpoint-dir", line.driver.checkpoint_dir.has_value()},
                                                      {"-eval", line.eval.has_value()},
                                                      {"-run-reproducer", line.driver.run_reproducer}};
  for (const auto& [flag, is_there] : of_one) {
    if (!is_there) continue;
    return Error{ErrorCode::Usage, fmt::format("more than one input for '{}': '{}'", flag, line.driver.more_inputs[0])};
  }
  return {};
}

// Of "text" or "json"; anything else is a flag that is not there.
ShownForm FormOf(std::string_view word) {
  if (word == "text") return ShownForm::Text;
  return word == "json" ? ShownForm::Json : ShownForm::None;
}

// The value of a flag that is neither text nor json.
Status CheckPage(std::string_view flag, const std::string& value) {
  if (value.ends_with(".html")) return {};
  return Error{ErrorCode::Usage,
               fmt::format("flag '-{}' takes text, json or the name of an .html file, not '{}'", flag, value)};
}

// Each form of a report once.
Status TakeReportFile(std::string_view path, std::string& file) {
  if (path.empty()) return Error{ErrorCode::Usage, "flag '-report' needs a file after 'json:'"};
  if (!file.empty())
    return Error{ErrorCode::Usage, fmt::format("flag '-report' names two files of a kind: '{}', '{}'", file, path)};
  file = path;
  return {};
}

Status TranslateReport(std::string_view value, DriverOptions& options) {
  constexpr std::string_view kJsonFile = "json:";
  if (value.starts_with(kJsonFile)) return TakeReportFile(value.substr(kJsonFile.size()), options.report_file);
  if (value.ends_with(".html")) return TakeReportFile(value, options.report_page);
  const ShownForm form = FormOf(value);
  if (form == ShownForm::None) {
    return Error{
        ErrorCode::Usage,
        fmt::format("flag '-report' takes text, json, json:FILE or the name of an .html file, not '{}'", value)};
  }
  if (options.report != ShownForm::None && options.report != form)
    return Error{ErrorCode::Usage, "flag '-report' prints text or json: expected json:FILE for one of them"};
  options.report = form;
  return {};
}

SemanticCheckOptions SemanticCheckOf(const CommandLine& line) {
  SemanticCheckOptions check{.each = line.check_semantics == "each"};
  check.budget = line.check_semantics_budget.value_or(check.budget);
  check.seed = line.check_semantics_seed.value_or(check.seed);
  if (line.check_semantics_compiled == "always") check.loops = LoopMode::Compile;
  if (line.check_semantics_compiled == "never") check.loops = LoopMode::Interpret;
  if (!line.check_semantics_inputs.empty()) check.inputs = *InputKinds::Of(line.check_semantics_inputs);
  check.tolerance = {line.check_semantics_rtol, line.check_semantics_atol};
  check.is_required = line.require_comparison;
  return check;
}

// Translates -bisect: a word that is not the name of a check is a command.
BisectRequest BisectRequestOf(const CommandLine& line) {
  if (*line.bisect == "verify") return {.check = BisectRequest::Check::Verify};
  if (*line.bisect == "semantics")
    return {.check = BisectRequest::Check::Semantics, .semantics = SemanticCheckOf(line)};
  return {.check = BisectRequest::Check::Command, .command = *line.bisect};
}

void TranslateWords(CommandLine& line) {
  if (!line.check_semantics.empty()) line.driver.check_semantics = SemanticCheckOf(line);
  if (line.bisect) line.driver.bisect = BisectRequestOf(line);
  line.driver.verify_diagnostics = !line.verify_diagnostics.empty();
  line.driver.only_expected = line.verify_diagnostics == "only-expected";
  line.driver.print_changed = ChangePrintingOf(line.print_changed);
  line.driver.print_pipeline = FormOf(line.print_pipeline);
  line.driver.stats = FormOf(line.stats);
  line.driver.metrics = FormOf(line.metrics);
  line.driver.track_memory = FormOf(line.track_memory);
  line.driver.explain_pipeline = FormOf(line.explain_pipeline);
  if (line.time_passes == "tree") line.driver.time_passes = TimesForm::Tree;
  if (line.time_passes == "list") line.driver.time_passes = TimesForm::List;
  if (line.time_passes == "json") line.driver.time_passes = TimesForm::Json;
  // Other programs read the other formats.
  const bool is_text = line.diagnostics == "text";
  if (line.progress == "auto" && is_text) line.driver.progress = ProgressShown::Auto;
  if (line.progress == "always") line.driver.progress = ProgressShown::Always;
  TranslateDiagnosticFlags(line.diagnostics, line.colour, line.driver.compiler);
}

Status TranslateLimits(CommandLine& line) {
  RunLimits& limits = line.driver.limits;
  IROPT_RETURN_IF_ERROR(TranslateLimit("-pass-timeout", line.pass_timeout, &ParseDuration, limits.pass_seconds));
  int64_t cache_bytes = 0;
  IROPT_RETURN_IF_ERROR(TranslateLimit("-cache-size", line.cache_size, &ParseSize, cache_bytes));
  if (line.cache_size) line.build.cache_bytes = static_cast<uint64_t>(cache_bytes);
  IROPT_RETURN_IF_ERROR(TranslateLimit("-max-rss", line.max_rss, &ParseSize, limits.rss_bytes));
  return TranslateLimit("-max-ir-growth", line.max_ir_growth, &ParseGrowth, limits.ir_growth);
}

}  // namespace

// A program that was built again may give other results under the same version.
static std::string DescribeProgram() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  const uintmax_t size = std::filesystem::file_size(path, error);
  const auto changed = std::filesystem::last_write_time(path, error).time_since_epoch();
  return fmt::format("{} {}", size, changed.count());
}

static Result<CommandLine> ParseArguments(const Arguments& arguments) {
  CommandLine line;
  FlagParser parser("ir-opt", Flags(), arguments, line.driver.input, &line.driver.more_inputs,
                    {kExclusions, kRequirements});
  const Flag* flag = Flags().data();
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
#include "flags.def"
  IROPT_RETURN_IF_ERROR(parser.Parse());
  line.driver.compiler.response_files = parser.response_files();
  IROPT_RETURN_IF_ERROR(CheckValues(line));
  IROPT_RETURN_IF_ERROR(CheckInputs(line));
  TranslateWords(line);
  // The other flags of a build step, and the number of threads, do not change the result.
  constexpr std::string_view kOthers[] = {"output", "MD", "MF", "MT", "cache-dir", "cache-size", "threads"};
  line.build.identity = fmt::format("ir-opt {}\n{}\n{}", IROPT_VERSION, DescribeProgram(), parser.Settings(kOthers));
  for (const std::string& report : line.reports) IROPT_RETURN_IF_ERROR(TranslateReport(report, line.driver));
  IROPT_RETURN_IF_ERROR(TranslateLimits(line));
  if (!line.diff.empty() && FormOf(line.diff) == ShownForm::None) IROPT_RETURN_IF_ERROR(CheckPage("diff", line.diff));
  return line;
}

DiffOptions DiffOptionsOf(const CommandLine& line) {
  DiffOptions options;
  options.compiler = line.driver.compiler;
  options.before = line.driver.input;
  options.after = line.driver.more_inputs.front();
  options.output = line.driver.output;
  options.form = FormOf(line.diff);
  if (options.form == ShownForm::None) options.page = line.diff;
  return options;
}

QueryOptions QueryOptionsOf(const CommandLine& line) {
  QueryOptions options;
  options.compiler = line.driver.compiler;
  options.inputs = {line.driver.input};
  options.inputs.insert(options.inputs.end(), line.driver.more_inputs.begin(), line.driver.more_inputs.end());
  options.query = *line.query;
  options.form = FormOf(line.query_format);
  options.split_marker = line.driver.split_marker.value_or("");
  return options;
}

Result<CommandLine> ParseCommandLine(const std::vector<std::string>& words) {
  return ParseWithDefaults(words, ParseArguments);
}

}  // namespace iropt
