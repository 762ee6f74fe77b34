#include "ir-reduce/ir_reduce.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/compiler_flags.h"
#include "cli/flag_parser.h"
#include "cli/tool.h"
#include "iropt/driver/flag_rows.h"
#include "iropt/reduce/reduce.h"

namespace iropt {

namespace {

constexpr std::string_view kName = "ir-reduce";

constexpr std::string_view kExamples =
    R"(  ir-reduce -test='ir-opt -passes=FuseOps {} 2>&1 | grep -q "internal error"' in.ir -o small.ir
                                                                 find what a pass fails on
  ir-reduce -test='not --crash ir-opt -O3' in.ir                 find what a crash needs
  ir-reduce -test='ir-opt -run-reproducer {} 2>&1 | grep -q ill-formed' repro.ir
                                                                 reduce the pipeline of a reproducer, too
)";

constexpr std::string_view kExitCodes = R"(  0  done
  1  usage error, or a file that cannot be read or written
  2  the module does not parse
  3  the module is ill-formed
  5  the module does not read back after printing
  6  the input is not interesting, or the result is not in a second test
  7  a budget was exceeded: memory
 70  internal error or crash: a bug in ir-reduce
130  interrupted: the smallest module so far was written
)";

constexpr Flag kFlags[] = {
#define IROPT_FLAG IROPT_FLAG_ROW
#include "ir-reduce/flags.def"
};

constexpr ToolDescription kDescription = {
    .name = kName,
    .summary = "reduce tensor programs that a command fails on",
    .purpose = "Reduces a module to a small one on which a command still ends with exit code 0.",
    .arguments = "-test=COMMAND [flags] [FILE]",
    .file_meaning = "the module to reduce; '-' or nothing: the standard input",
    .flags = kFlags,
    .examples = kExamples,
    .exit_codes = kExitCodes};

// The values of the flags, in the members that the rows of flags.def name.
struct CommandLine : ReduceOptions {
  std::string progress_word = "auto";
  std::string diagnostics = "text";
  std::string colour = "auto";
  PageFlags pages;
};

Result<CommandLine> ParseCommandLine(const Arguments& arguments) {
  CommandLine line;
  FlagParser parser(kName, kFlags, arguments, line.input);
  const Flag* flag = kFlags;
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
#include "ir-reduce/flags.def"
  IROPT_RETURN_IF_ERROR(parser.Parse());
  line.compiler.program = kName;
  line.compiler.response_files = parser.response_files();
  TranslateDiagnosticFlags(line.diagnostics, line.colour, line.compiler);
  if (line.progress_word == "always") line.progress = ProgressShown::Always;
  if (line.progress_word == "never") line.progress = ProgressShown::Never;
  return line;
}

int RunLine(const CommandLine& line) {
  if (line.test.empty()) return ReportUsageError(kName, {ErrorCode::Usage, "missing flag '-test'"});
  return RunReduce(line);
}

}  // namespace

int RunIrReduce(const std::vector<std::string>& arguments) {
  return RunCommandLine(kDescription, arguments, ParseCommandLine, RunLine);
}

}  // namespace iropt
