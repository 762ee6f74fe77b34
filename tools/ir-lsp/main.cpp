// ir-lsp: the language server for TVMScript, over the standard streams.
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/completion.h"
#include "cli/flag_help.h"
#include "cli/flag_parser.h"
#include "cli/flag_rows.h"
#include "cli/limit_flag.h"
#include "cli/man_page.h"
#include "cli/tool.h"
#include "iropt/lsp/server.h"

namespace {

using namespace iropt;

constexpr std::string_view kName = "ir-lsp";

constexpr std::string_view kExamples =
    R"(  ir-lsp                                    as an editor starts it, see docs/editors.md
)";

constexpr std::string_view kExitCodes = R"(  0  the client asked to shut down
  1  usage error, or the client ended without asking
 70  internal error or crash: a bug in ir-lsp
)";

constexpr Flag kFlags[] = {
#define IROPT_FLAG IROPT_FLAG_ROW
#include "flags.def"
};

constexpr ToolDescription kDescription = {
    .name = kName,
    .summary = "answer editors about tensor programs",
    .purpose = "Speaks the language server protocol, version 3.17, over its standard input and output.",
    .arguments = "[flags]",
    .file_meaning = "",
    .flags = kFlags,
    .examples = kExamples,
    .exit_codes = kExitCodes};

// The values of the flags, in the members that the rows of flags.def name.
struct CommandLine {
  lsp::ServerOptions server;
  std::optional<std::string> run_timeout;
  std::optional<std::string> run_memory;
  bool help = false;
  bool help_all = false;
  std::string print_completion;
  bool print_man_page = false;
  bool print_version = false;
};

Result<CommandLine> ParseCommandLine(const Arguments& arguments) {
  CommandLine line;
  std::string file;
  FlagParser parser(kName, kFlags, arguments, file);
  const Flag* flag = kFlags;
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
#include "flags.def"
  IROPT_RETURN_IF_ERROR(parser.Parse());
  lsp::BackgroundLimits& limits = line.server.limits;
  IROPT_RETURN_IF_ERROR(TranslateLimit("-run-timeout", line.run_timeout, &ParseDuration, limits.seconds));
  IROPT_RETURN_IF_ERROR(TranslateLimit("-run-memory", line.run_memory, &ParseSize, limits.memory_bytes));
  return line;
}

int RunCommand(const std::vector<std::string>& arguments) {
  if (const auto completions = CompleteFor(kFlags, arguments)) return PrintToStdout(kName, *completions);
  const Result<CommandLine> parsed = ParseWithDefaults(arguments, ParseCommandLine);
  if (!parsed.ok()) return ReportUsageError(kName, parsed.error());
  const CommandLine& line = *parsed;
  if (line.help || line.help_all) return PrintToStdout(kName, RenderHelp(kDescription, line.help_all));
  if (!line.print_completion.empty()) return PrintToStdout(kName, CompletionScript(kName, line.print_completion));
  if (line.print_man_page) return PrintToStdout(kName, RenderManPage(kDescription));
  if (line.print_version) return PrintToStdout(kName, "ir-lsp " IROPT_VERSION "\n");
  return lsp::RunServer(STDIN_FILENO, STDOUT_FILENO, line.server);
}

}  // namespace

int main(int argc, char** argv) { return RunTool(kName, argc, argv, RunCommand); }
