// ir-opt: reads a module, runs passes, prints the module.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.h"
#include "completion.h"
#include "help.h"
#include "iropt/driver/catalog.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/driver.h"
#include "iropt/driver/eval_expression.h"
#include "iropt/support/crash.h"
#include "iropt/support/file.h"
#include "man_page.h"
#include "topics.h"

namespace {

using iropt::CommandLine;

int Fail(const iropt::Error& error) {
  iropt::OutputStream err(STDERR_FILENO);
  err.Append(fmt::format("ir-opt: error: {}\n", error.message));
  return iropt::ExitCode(error.code);
}

int UsageError(const iropt::Error& error) {
  const int code = Fail(error);
  iropt::OutputStream(STDERR_FILENO).Append("ir-opt: note: run 'ir-opt -help' for the flags\n");
  return code;
}

int PrintToStdout(std::string_view text) {
  iropt::OutputStream out(STDOUT_FILENO);
  out.Append(text);
  const iropt::Status written = out.Flush();
  return written.ok() ? 0 : Fail(written.error());
}

bool AsksForCatalog(const CommandLine& line) {
  return line.help_pass || !line.list_passes.empty() || line.list_instruments || line.list_configs ||
         line.list_pipelines || line.print_man_page;
}

// Prints the requested list, including entries of plugins.
iropt::Result<std::string> RenderCatalog(const CommandLine& line) {
  iropt::CompilerInstance compiler(line.driver.compiler);
  IROPT_RETURN_IF_ERROR(compiler.LoadPlugins(line.driver.plugins));
  const iropt::PassRegistry& registry = compiler.registry();
  if (line.help_pass) return iropt::DescribePass(*line.help_pass, registry);
  if (line.list_passes == "json") return iropt::RenderPassesJson(registry);
  if (line.list_passes == "text") return iropt::RenderPasses(registry);
  if (line.list_instruments) return iropt::RenderInstruments(registry);
  if (line.list_pipelines) return iropt::RenderPipelines(registry);
  if (line.list_configs) return iropt::RenderConfigs(registry);
  return iropt::RenderManPage(registry);
}

// Completion scripts call `ir-opt -complete LINE [BREAKS]`, which is not for people.
int RunCompletion(const std::vector<std::string>& arguments) {
  const std::string_view breaks = arguments.size() > 2 ? arguments[2] : std::string_view();
  return PrintToStdout(iropt::Complete(arguments.size() > 1 ? arguments[1] : "", breaks));
}

int RunCommand(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "-complete") return RunCompletion(arguments);
  const iropt::Result<CommandLine> line = iropt::ParseCommandLine(arguments);
  if (!line.ok()) return UsageError(line.error());
  if (line->help) return PrintToStdout(iropt::RenderHelp());
  if (line->help_all) return PrintToStdout(iropt::RenderHelpAll());
  if (line->help_pipelines) return PrintToStdout(iropt::kPipelines);
  if (line->print_version) return PrintToStdout("ir-opt " IROPT_VERSION "\n");
  if (!line->print_completion.empty()) return PrintToStdout(iropt::CompletionScript(line->print_completion));
  if (line->eval) return iropt::EvalExpression(line->driver.compiler, line->driver.plugins, *line->eval);
  if (!AsksForCatalog(*line)) return iropt::RunDriver(line->driver);
  const iropt::Result<std::string> text = RenderCatalog(*line);
  return text.ok() ? PrintToStdout(*text) : Fail(text.error());
}

// The command line as a shell takes it.
std::string CommandText(int argc, char** argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
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
  // Writing to a closed pipe is then an error like others.
  std::signal(SIGPIPE, SIG_IGN);
  iropt::InstallCrashHandler("ir-opt", CommandText(argc, argv));
  try {
    return RunCommand(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc&) {
    std::fputs("ir-opt: error: out of memory\n", stderr);
    return iropt::ExitCode(iropt::ErrorCode::Budget);
  } catch (const std::exception& e) {
    std::fputs("ir-opt: internal error: ", stderr);
    std::fputs(e.what(), stderr);
    std::fputs("\n", stderr);
  }
  return iropt::ExitCode(iropt::ErrorCode::Internal);
}
