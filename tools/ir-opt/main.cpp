// ir-opt: reads a module, runs passes, prints the module.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "arguments.h"
#include "iropt/driver/driver.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/file.h"

namespace {

using iropt::DriverOptions;

constexpr const char* kFooter = R"(
Flags take one dash or two, and values after '=' or as the next word; @FILE reads more arguments from a file.
Lists are separated by commas, and flags that take one may be repeated.

Exit codes:
  0  done                                      5  the verifier rejected what a pass made
  1  wrong usage, or a file that cannot be     6  a semantic check failed
     read or written                           7  a budget was exceeded
  2  the input does not parse                 70  internal error: a bug in ir-opt
  3  the input is ill-formed
  4  a pass failed
)";

// What the command line says besides the options of the driver.
struct CommandLine {
  DriverOptions driver;
  bool list_passes = false;
  bool print_version = false;
  std::string diagnostics = "text";
  std::string colour = "auto";
};

void AddPipelineFlags(CLI::App& app, CommandLine& line) {
  DriverOptions& driver = line.driver;
  app.add_option("--passes", driver.passes, "run these passes: A,B<option=value>,fixpoint<8>(C,D),default<O2>")
      ->group("Pipeline")
      ->type_name("PIPELINE");
  app.add_option("--pipeline", driver.pipeline_file, "run the passes of a JSON file, under the context that it holds")
      ->group("Pipeline")
      ->type_name("FILE");
  app.add_option("--opt-level", driver.opt_level,
                 "level from 0 to 4, short -O0 to -O4: passes above it are skipped (default 2); without a pipeline, "
                 "runs that of the level")
      ->group("Pipeline")
      ->type_name("N")
      ->check(CLI::Range(0, 4));
  app.add_option("--disable", driver.disable, "never run these passes")
      ->group("Pipeline")
      ->type_name("PASSES")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--require", driver.require, "run these passes whatever the level, where the pipeline has them")
      ->group("Pipeline")
      ->type_name("PASSES")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--list-passes", line.list_passes, "list all passes and their options")->group("Pipeline");
  app.add_flag("--print-pipeline", driver.print_pipeline, "print the pipeline to stderr")->group("Pipeline");
}

void AddFileFlags(CLI::App& app, CommandLine& line) {
  DriverOptions& driver = line.driver;
  app.add_option("input", driver.input, "the module to read; '-', the default, is the standard input")
      ->type_name("FILE");
  app.add_option("--output", driver.output, "where the module goes, short -o; '-', the default, is the standard output")
      ->group("Input and output")
      ->type_name("FILE");
  app.add_flag("--split-input-file", driver.split_input_file, "work on each part between lines '# -----' alone")
      ->group("Input and output");
  app.add_option("--inline-constants", driver.inline_constants, "print arrays of up to N elements in their places")
      ->group("Input and output")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
}

void AddCheckFlags(CLI::App& app, CommandLine& line) {
  DriverOptions& driver = line.driver;
  app.add_flag("--verify-only", driver.verify_only, "check the input and do nothing else")->group("Checks");
  app.add_flag("--verify-each", driver.verify_each, "check the module after every pass")->group("Checks");
  app.add_flag("--no-verify", driver.no_verify, "do not check the input")->group("Checks");
  app.add_flag("--skip-type-check", driver.skip_type_check, "leave the type rules out of the checks")->group("Checks");
}

void AddObservationFlags(CLI::App& app, CommandLine& line) {
  DriverOptions& driver = line.driver;
  const std::string group = "Observation (on stderr)";
  app.add_flag("--report", driver.report, "say what was read, what each pass did and how long it took")->group(group);
  app.add_flag("--time-passes", driver.time_passes, "show a table of times")->group(group);
  app.add_option("--print-before", driver.print_before.passes, "show the module before these passes")
      ->group(group)
      ->type_name("PASSES")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--print-after", driver.print_after.passes, "show the module after these passes")
      ->group(group)
      ->type_name("PASSES")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--print-before-all", driver.print_before.all, "show the module before every pass")->group(group);
  app.add_flag("--print-after-all", driver.print_after.all, "show the module after every pass")->group(group);
  app.add_option("--diagnostics", line.diagnostics, "the form of diagnostics")
      ->group(group)
      ->type_name("")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option("--color", line.colour, "colours in diagnostics")
      ->group(group)
      ->type_name("")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
}

void AddOtherFlags(CLI::App& app, CommandLine& line) {
  app.add_option("--threads", line.driver.threads, "work on up to N functions at a time; 0, the default, is one per core")
      ->group("Other")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  app.add_flag("--version", line.print_version, "print the version")->group("Other");
  app.set_help_flag("--help", "print this, short -h")->group("Other");
}

int UsageError(const std::string& message) {
  iropt::OutputStream err(STDERR_FILENO);
  err.Append(fmt::format("ir-opt: error: {}\nir-opt: note: run 'ir-opt --help' for the flags\n", message));
  return iropt::ExitCode(iropt::ErrorCode::Usage);
}

// What CLI11 could not place: flags that do not exist, or more than one input.
std::string DescribeUnplaced(const CLI::App& app, const std::string& argument) {
  if (argument.size() < 2 || argument[0] != '-') return fmt::format("more than one input: '{}'", argument);
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
    return PrintToStdout(app.help());
  } catch (const CLI::ParseError& e) {
    return UsageError(e.what());
  }
  const std::vector<std::string> unplaced = app.remaining();
  if (!unplaced.empty()) return UsageError(DescribeUnplaced(app, unplaced.front()));
  if (line.print_version) return PrintToStdout("ir-opt " IROPT_VERSION "\n");
  if (line.diagnostics == "json") line.driver.diagnostics = iropt::DiagnosticFormat::Json;
  if (line.colour == "always") line.driver.colour = iropt::Colour::Always;
  if (line.colour == "never") line.driver.colour = iropt::Colour::Never;
  return line.list_passes ? iropt::ListPasses() : iropt::RunDriver(line.driver);
}

}  // namespace

int main(int argc, char** argv) {
  // Writing to a pipe that nobody reads is then an error like others.
  std::signal(SIGPIPE, SIG_IGN);
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
