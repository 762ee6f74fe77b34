#include "ir-lsp/ir_lsp.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/flag_parser.h"
#include "cli/limit_flag.h"
#include "cli/tool.h"
#include "iropt/driver/flag_rows.h"
#include "iropt/lsp/server.h"

namespace iropt {

namespace {

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
#include "ir-lsp/flags.def"
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
  PageFlags pages;
};

Result<CommandLine> ParseCommandLine(const Arguments& arguments) {
  CommandLine line;
  std::string file;
  FlagParser parser(kName, kFlags, arguments, file);
  const Flag* flag = kFlags;
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
#include "ir-lsp/flags.def"
  IROPT_RETURN_IF_ERROR(parser.Parse());
  lsp::BackgroundLimits& limits = line.server.limits;
  IROPT_RETURN_IF_ERROR(TranslateLimit("-run-timeout", line.run_timeout, &ParseDuration, limits.seconds));
  IROPT_RETURN_IF_ERROR(TranslateLimit("-run-memory", line.run_memory, &ParseSize, limits.memory_bytes));
  return line;
}

int RunLine(const CommandLine& line) { return lsp::RunServer(STDIN_FILENO, STDOUT_FILENO, line.server); }

}  // namespace

int RunIrLsp(const std::vector<std::string>& arguments) {
  return RunCommandLine(kDescription, arguments, ParseCommandLine, RunLine);
}

}  // namespace iropt
