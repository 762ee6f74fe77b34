// ir-run: reads a module, runs passes, runs a function of it on tensors.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/compiler_flags.h"
#include "cli/completion.h"
#include "cli/flag_help.h"
#include "cli/flag_parser.h"
#include "cli/flag_rows.h"
#include "cli/man_page.h"
#include "cli/tool.h"
#include "iropt/driver/run_program.h"
#include "iropt/eval/relax/interpreter.h"

namespace {

using namespace iropt;

constexpr std::string_view kName = "ir-run";

constexpr std::string_view kExamples =
    R"(  ir-run -inputs=in.npz -output=out.npz in.ir                   run 'main'
  ir-run -entry=forward -random-inputs -sym=n=16 -print in.ir   run on random inputs, print the results
  ir-run -O3 -inputs=in.npz -check=out.npz in.ir                optimize, run, and compare
)";

constexpr std::string_view kExitCodes = R"(  0  done
  1  usage error, missing or mismatched inputs, or a file that cannot be read or written
  2  the module does not parse
  3  the module is ill-formed
  4  a pass failed or threw an exception
  5  a check rejected the result of a pass
  6  the run failed, or its results are not the expected ones
  7  a budget was exceeded: memory, depth of calls
 70  internal error or crash: a bug in ir-run or in a pass
)";

constexpr Flag kFlags[] = {
#define IROPT_FLAG IROPT_FLAG_ROW
#include "flags.def"
};

constexpr ToolDescription kDescription = {
    .name = kName,
    .summary = "run functions of tensor programs in TVMScript",
    .purpose = "Reads a module, runs a pipeline of passes, runs a function on input tensors.",
    .arguments = "[flags] [FILE]",
    .file_meaning = "the module to read; '-' or nothing: the standard input",
    .flags = kFlags,
    .examples = kExamples,
    .exit_codes = kExitCodes};

// NOLINTNEXTLINE(readability-identifier-naming): GCC cannot make the table constexpr
const FlagExclusion kExclusions[] = {
    {"emit-llvm", {"tune", "save-inputs", "save-values", "check-values"}},
    {"compare-pipelines",
     {"passes", "pipeline", "tuning-database", "check", "check-values", "save-inputs", "save-values", "output", "print",
      "time", "trace", "emit-llvm"}},
    {"repeat", {"time", "trace", "emit-llvm"}},
};

// The values of the flags, in the members that the rows of flags.def name.
struct CommandLine : ProgramOptions {
  std::optional<std::string> loops;
  std::optional<std::string> report;
  std::string diagnostics = "text";
  std::string colour = "auto";
  bool help = false;
  bool help_all = false;
  bool list_packed = false;
  std::string print_completion;
  bool print_man_page = false;
  bool print_version = false;
};

constexpr FlagRequirement kRequirements[] = {{"tune", "tuning-database"},
                                             {"rtol", "check", "check-values"},
                                             {"atol", "check", "check-values"},
                                             {"require-comparison", "check", "check-values"},
                                             {"warmup", "repeat", "compare-pipelines"},
                                             {"threads", "repeat", "compare-pipelines"},
                                             {"report", "repeat", "compare-pipelines"}};

// Calls of each pipeline that -compare-pipelines measures by default.
constexpr int64_t kComparedCalls = 10;

Result<CommandLine> ParseCommandLine(const Arguments& arguments) {
  CommandLine line;
  FlagParser parser(kName, kFlags, arguments, line.driver.input, nullptr,
                    {.exclusions = kExclusions, .requirements = kRequirements});
  const Flag* flag = kFlags;
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
#include "flags.def"
  IROPT_RETURN_IF_ERROR(parser.Parse());
  line.driver.compiler.response_files = parser.response_files();
  TranslateDiagnosticFlags(line.diagnostics, line.colour, line.driver.compiler);
  const bool compares = !line.compare_pipelines.empty();
  const bool is_compiled = line.loops ? *line.loops == "compile" : compares;
  if (is_compiled) line.ProgramOptions::loops = LoopMode::Compile;
  if (line.report && *line.report == "json") line.times_form = ShownForm::Json;
  if (compares && line.repeat == 0) line.repeat = kComparedCalls;
  return line;
}

std::string RenderPackedFuncs() {
  std::string text;
  for (const std::string_view name : BuiltinPackedFuncs().Names()) text += fmt::format("{}\n", name);
  return text;
}

int RunCommand(const std::vector<std::string>& arguments) {
  if (const auto completions = CompleteFor(kFlags, arguments)) return PrintToStdout(kName, *completions);
  const Result<CommandLine> parsed = ParseWithDefaults(arguments, ParseCommandLine);
  if (!parsed.ok()) return ReportUsageError(kName, parsed.error());
  const CommandLine& line = *parsed;
  if (line.help || line.help_all) return PrintToStdout(kName, RenderHelp(kDescription, line.help_all));
  if (line.list_packed) return PrintToStdout(kName, RenderPackedFuncs());
  if (!line.print_completion.empty()) return PrintToStdout(kName, CompletionScript(kName, line.print_completion));
  if (line.print_man_page) return PrintToStdout(kName, RenderManPage(kDescription));
  if (line.print_version) return PrintToStdout(kName, "ir-run " IROPT_VERSION "\n");
  return RunProgram(line);
}

}  // namespace

int main(int argc, char** argv) { return RunTool(kName, argc, argv, RunCommand); }
