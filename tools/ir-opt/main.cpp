// ir-opt: reads a module, runs passes, prints the module.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "arguments.h"
#include "help.h"
#include "iropt/driver/driver.h"
#include "iropt/support/crash.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/file.h"

namespace {

using iropt::DriverOptions;

constexpr const char* kFooter = R"(
Flags take one dash or two, and values after '=' or as the next word. Lists are separated by commas, and flags
that take one may be repeated; of other flags the last one counts. @FILE stands for the arguments in the file,
and what follows '--' is no flag.

A pipeline is a list of passes, with options in angle brackets, in which these may nest:
  Sequential<name=N;opt_level=2>(A,B)   the passes in turn, as one
  fixpoint<8>(A,B)                      the passes in turn until nothing changes, at most 8 times
  repeat<2>(A,B)                        the passes in turn, twice
  default<O2>                           the default pipeline of a level

Examples:
  ir-opt in.ir                                          read, check and print
  ir-opt -O3 in.ir -o out.ir                            optimize
  ir-opt -O3 -passes='FoldConstant,fixpoint(DeadCodeElimination)' -print-after-all in.ir
  ir-opt -verify-only in.ir                             check

Exit codes:
  0  done
  1  wrong usage, or a file that cannot be read or written
  2  the input does not parse
  3  the input is ill-formed
  4  a pass failed
  5  the verifier rejected what a pass made
  6  a semantic check failed
  7  a budget was exceeded
 70  internal error: a bug in ir-opt
)";

// What the command line says besides the options of the driver.
struct CommandLine {
  DriverOptions driver;
  bool list_passes = false;
  bool list_configs = false;
  bool print_version = false;
  std::string diagnostics = "text";
  std::string colour = "auto";
  std::string print_pipeline;
};

// Flags whose value is a list separated by commas.
CLI::Option* AddList(CLI::App& app, const char* name, std::vector<std::string>& list, const char* meaning) {
  return app.add_option(name, list, meaning)->type_name("PASSES")->delimiter(',')->allow_extra_args(false);
}

CLI::Validator Number(int64_t least, int64_t most) {
  const auto check = [=](const std::string& text) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool ok = error == std::errc() && end == text.data() + text.size() && value >= least && value <= most;
    if (ok) return std::string();
    const std::string limit =
        most == INT64_MAX ? fmt::format("from {}", least) : fmt::format("from {} to {}", least, most);
    return fmt::format("must be a number {}, not '{}'", limit, text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator OneOf(std::vector<std::string> words) {
  const auto check = [words = std::move(words)](const std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    return fmt::format("must be one of {}, not '{}'", fmt::join(words, ", "), text);
  };
  return CLI::Validator(check, "");
}

void AddPipelineFlags(CLI::App& app, CommandLine& line) {
  DriverOptions& driver = line.driver;
  const std::string group = "Pipeline";
  app.add_option("--passes", driver.passes, "run these passes")->group(group)->type_name("PIPELINE");
  app.add_option("--pipeline", driver.pipeline_file,
                 "run the passes of a JSON file under the context that it holds; what the command line says wins")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--load-pass-plugin", driver.plugins, "load passes and instruments from a shared object")
      ->group(group)
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--opt-level", driver.opt_level,
                 "also -O0 to -O4: do not run passes whose level is higher than N, which is 2 where nothing says "
                 "otherwise; without a pipeline, run the default one of the level")
      ->group(group)
      ->type_name("N")
      ->check(Number(0, 4));
  AddList(app, "--disable", driver.disable, "never run these passes")->group(group);
  AddList(app, "--require", driver.require, "run these passes at any level, where the pipeline has them")->group(group);
  app.add_option("--config", driver.config,
                 "set a configuration option, or a field of one: tir.UnrollLoop.auto_max_step=16")
      ->group(group)
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--list-passes", line.list_passes, "list all passes with their levels and options")->group(group);
  app.add_flag("--list-configs", line.list_configs, "list all configuration options with their defaults")->group(group);
  app.add_flag("--print-pipeline{text}", line.print_pipeline,
               "print the pipeline, also as =json, a pipeline file with all settings, and do nothing else")
      ->group(group)
      ->check(OneOf({"text", "json"}));
}

void AddFileFlags(CLI::App& app, CommandLine& line) {
  DriverOptions& driver = line.driver;
  const std::string group = "Input and output";
  app.add_option("input", driver.input, "the module to read; '-' or nothing: the standard input")->type_name("FILE");
  app.add_option("--output", driver.output,
                 "also -o FILE: where the module goes, which is the standard output otherwise; a file is replaced when "
                 "all is done")
      ->group(group)
      ->type_name("FILE");
  app.add_flag("--split-input-file", driver.split_input_file,
               "the input holds several modules between lines '# -----'; work on each alone")
      ->group(group);
  app.add_option("--inline-constants", driver.inline_constants,
                 "print arrays of up to N elements in their places, others in the metadata section")
      ->group(group)
      ->type_name("N")
      ->check(Number(0, INT64_MAX));
}

void AddCheckFlags(CLI::App& app, CommandLine& line) {
  DriverOptions& driver = line.driver;
  const std::string group = "Checks";
  app.add_flag("--verify-only", driver.verify_only, "check the input and do nothing else")->group(group);
  app.add_flag("--verify-each", driver.verify_each, "also check what every pass made, and what it says of its changes")
      ->group(group);
  app.add_flag("--no-verify", driver.no_verify, "do not check the input")->group(group);
  app.add_flag("--skip-type-check", driver.skip_type_check, "leave the type rules out of the checks")->group(group);
}

void AddObservationFlags(CLI::App& app, CommandLine& line) {
  DriverOptions& driver = line.driver;
  const std::string group = "Observation (on the standard error output)";
  app.add_flag("--explain-pipeline", driver.explain_pipeline,
               "say of each pass whether it changed the module, or why it did not run")
      ->group(group);
  app.add_option("--opt-bisect-limit", driver.opt_bisect_limit,
                 "number the passes, say of each whether it runs, and leave out those after the first N")
      ->group(group)
      ->type_name("N");
  app.add_option("--instruments", driver.instruments, "watch the passes with these instruments")
      ->group(group)
      ->type_name("INSTRUMENTS")
      ->allow_extra_args(false);
  app.add_flag("--report", driver.report, "say what was read, what each pass did and how long it took")->group(group);
  app.add_flag("--time-passes", driver.time_passes, "show a table of times")->group(group);
  AddList(app, "--print-before", driver.print_before.passes, "show the module before these passes")->group(group);
  AddList(app, "--print-after", driver.print_after.passes, "show the module after these passes")->group(group);
  app.add_flag("--print-before-all", driver.print_before.all, "show the module before every pass")->group(group);
  app.add_flag("--print-after-all", driver.print_after.all, "show the module after every pass")->group(group);
  app.add_option("--diagnostics", line.diagnostics,
                 "how errors, remarks and notes are written; json: one object a line")
      ->group(group)
      ->type_name("text|json")
      ->check(OneOf({"text", "json"}));
  app.add_option("--color", line.colour, "colours in diagnostics; auto: on a terminal")
      ->group(group)
      ->type_name("auto|always|never")
      ->check(OneOf({"auto", "always", "never"}));
}

void AddOtherFlags(CLI::App& app, CommandLine& line) {
  app.add_option("--threads", line.driver.threads,
                 "work on up to N functions at a time; 0 or nothing: one per core; the output does not depend on it")
      ->group("Other")
      ->type_name("N")
      ->check(Number(0, 1024));
  app.add_flag("--version", line.print_version, "print the version")->group("Other");
  app.set_help_flag("--help", "also -h: print this")->group("Other");
}

int UsageError(const std::string& message) {
  iropt::OutputStream err(STDERR_FILENO);
  err.Append(fmt::format("ir-opt: error: {}\nir-opt: note: run 'ir-opt --help' for the flags\n", message));
  return iropt::ExitCode(iropt::ErrorCode::Usage);
}

// What CLI11 could not place: flags that do not exist, or more than one input. The end of the flags has no place
// either.
std::string DescribeUnplaced(const CLI::App& app, const std::vector<std::string>& unplaced) {
  const bool is_literal = unplaced.front() == "--";
  if (is_literal && unplaced.size() == 1) return "";
  const std::string& argument = unplaced[is_literal ? 1 : 0];
  if (is_literal || argument.size() < 2 || argument[0] != '-')
    return fmt::format("more than one input: '{}'", argument);
  std::vector<std::string_view> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back(name);
  }
  const std::string name = argument.substr(2, argument.find('=') - 2);
  const std::optional<std::string_view> nearest = iropt::NearestName(name, known);
  std::string message = fmt::format("unknown flag '-{}'", name);
  if (nearest) message += fmt::format("; did you mean '-{}'?", *nearest);
  return message;
}

// What CLI11 says begins with the flag, in two dashes.
std::string DescribeParseError(const CLI::ParseError& error) {
  const std::string what = error.what();
  const size_t colon = what.find(": ");
  if (!what.starts_with("--") || colon == std::string::npos) return what;
  const std::string flag = what.substr(1, colon - 1);
  const bool lacks_value = error.get_name() == "ArgumentMismatch";
  return lacks_value ? fmt::format("flag '{}' needs a value", flag)
                     : fmt::format("flag '{}' {}", flag, what.substr(colon + 2));
}

int PrintToStdout(std::string_view text) {
  iropt::OutputStream out(STDOUT_FILENO);
  out.Append(text);
  const iropt::Status written = out.Flush();
  return written.ok() ? 0 : UsageError(written.error().message);
}

int RunCommand(const std::vector<std::string>& arguments) {
  CommandLine line;
  CLI::App app("Reads a module, runs a pipeline of passes, prints the module.", "ir-opt");
  AddPipelineFlags(app, line);
  AddFileFlags(app, line);
  AddCheckFlags(app, line);
  AddObservationFlags(app, line);
  AddOtherFlags(app, line);
  app.footer(kFooter);
  app.allow_extras();
  // The last one wins, as compilers have it, where there can be only one.
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() <= 1) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  iropt::Result<std::vector<std::string>> normalized = iropt::NormalizeArguments(arguments);
  if (!normalized.ok()) return UsageError(normalized.error().message);
  std::reverse(normalized->begin(), normalized->end());  // CLI11 takes them from the back
  try {
    app.parse(*std::move(normalized));
  } catch (const CLI::CallForHelp&) {
    return PrintToStdout(iropt::RenderHelp(app));
  } catch (const CLI::ParseError& e) {
    return UsageError(DescribeParseError(e));
  }
  const std::vector<std::string> unplaced = app.remaining();
  const std::string problem = unplaced.empty() ? "" : DescribeUnplaced(app, unplaced);
  if (!problem.empty()) return UsageError(problem);
  if (line.print_version) return PrintToStdout("ir-opt " IROPT_VERSION "\n");
  if (line.diagnostics == "json") line.driver.diagnostics = iropt::DiagnosticFormat::Json;
  if (line.print_pipeline == "text") line.driver.print_pipeline = iropt::PipelineForm::Text;
  if (line.print_pipeline == "json") line.driver.print_pipeline = iropt::PipelineForm::Json;
  if (line.colour == "always") line.driver.colour = iropt::Colour::Always;
  if (line.colour == "never") line.driver.colour = iropt::Colour::Never;
  if (line.list_configs) return iropt::ListConfigs();
  return line.list_passes ? iropt::ListPasses(line.driver) : iropt::RunDriver(line.driver);
}

// The command line as a shell takes it.
std::string CommandText(int argc, char** argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool plain = !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                               "0123456789-_=./,:+@%") == std::string_view::npos;
    if (i > 0) text += ' ';
    if (!plain) text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    if (!plain) text += '\'';
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  // Writing to a pipe that nobody reads is then an error like others.
  std::signal(SIGPIPE, SIG_IGN);
  iropt::InstallCrashHandler("ir-opt", CommandText(argc, argv));
  try {
    return RunCommand(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc&) {
    std::fputs("ir-opt: error: out of memory\n", stderr);
  } catch (const std::exception& e) {
    std::fputs("ir-opt: internal error: ", stderr);
    std::fputs(e.what(), stderr);
    std::fputs("\n", stderr);
  }
  return iropt::ExitCode(iropt::ErrorCode::Internal);
}
