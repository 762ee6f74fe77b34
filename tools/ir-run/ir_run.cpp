#include "ir-run/ir_run.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/compiler_flags.h"
#include "cli/flag_parser.h"
#include "cli/tool.h"
#include "iropt/driver/flag_rows.h"
#include "iropt/driver/run_program.h"
#include "iropt/eval/relax/interpreter.h"

namespace iropt {

namespace {

constexpr std::string_view kName = "ir-run";

constexpr std::string_view kExamples =
    R"(  ir-run -inputs=in.npz -output=out.npz in.ir        run 'main'
  ir-run -random-inputs -sym=n=16 -print in.ir       print random results
  ir-run -O3 -inputs=in.npz -check=out.npz in.ir     optimize, run, and compare
  ir-run -random-inputs -repeat=100 model.onnx       measure the time of a call
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
#include "ir-run/flags.def"
};

constexpr std::string_view kCommonFlags[] = {"inputs", "random-inputs", "input-shape", "sym",       "entry",
                                             "output", "print",         "check",       "opt-level", "passes",
                                             "loops",  "repeat",        "time",        "quiet",     "version"};

constexpr ToolDescription kDescription = {
    .name = kName,
    .summary = "run machine learning models in ONNX and TVMScript",
    .purpose = "Reads a module, runs a pipeline of passes, runs a function on input tensors.",
    .arguments = "[flags] [FILE]",
    .file_meaning = "the module to read; '-' or nothing: the standard input",
    .flags = kFlags,
    .examples = kExamples,
    .exit_codes = kExitCodes,
    .common = kCommonFlags};

// NOLINTNEXTLINE(readability-identifier-naming): GCC cannot make the table constexpr
const FlagExclusion kExclusions[] = {
    {"emit-llvm", {"tune", "save-inputs", "save-values", "check-values"}},
    {"compare-pipelines",
     {"passes", "pipeline", "tuning-database", "check", "check-values", "save-inputs", "save-values", "output", "print",
      "time", "trace", "emit-llvm"}},
    {"repeat", {"trace", "emit-llvm"}},
    {"check-races", {"loops", "repeat", "compare-pipelines", "emit-llvm", "tune"}},
};

// The values of the flags, in the members that the rows of flags.def name.
struct CommandLine : ProgramOptions {
  CompilerOptions compiler;  // those of `driver` once all flags are parsed
  std::optional<std::string> loops;
  std::optional<std::string> check_races;
  std::optional<std::string> report;
  std::optional<std::string> time_word;
  std::string diagnostics = "text";
  std::string colour = "auto";
  std::string progress_word = "auto";
  PageFlags pages;
  bool list_packed = false;
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
#include "ir-run/flags.def"
  IROPT_RETURN_IF_ERROR(parser.Parse());
  line.compiler.response_files = parser.response_files();
  line.compiler.program = kName;
  line.compiler.command = CommandOf(kName, arguments);
  TranslateDiagnosticFlags(line.diagnostics, line.colour, line.compiler);
  line.driver.compiler = line.compiler;
  // Other programs read the other formats.
  if (line.progress_word == "auto" && line.diagnostics == "text") line.progress = ProgressShown::Auto;
  if (line.progress_word == "always") line.progress = ProgressShown::Always;
  const bool compares = !line.compare_pipelines.empty();
  const bool is_compiled = line.loops ? *line.loops == "compile" : compares;
  if (is_compiled) line.ProgramOptions::loops = LoopMode::Compile;
  if (line.check_races)
    line.ProgramOptions::check_races = *line.check_races == "all" ? RaceWatch::kAll : RaceWatch::kSampled;
  if (line.report && *line.report == "json") line.times_form = ShownForm::Json;
  line.time = line.time_word.has_value();
  const bool wants_results = line.output || line.print || line.check || line.check_values || line.save_values;
  if (line.ProgramOptions::check_races == RaceWatch::kSampled && wants_results)
    return Error{ErrorCode::Usage,
                 "-check-races=sampled has no results for -output, -print, -check, -check-values and -save-values: "
                 "expected -check-races"};
  line.times_by_node = line.time_word == "nodes";
  if (compares && line.repeat == 0) line.repeat = kComparedCalls;
  return line;
}

std::string RenderPackedFuncs() {
  std::string text;
  for (const std::string_view name : BuiltinPackedFuncs().Names()) text += fmt::format("{}\n", name);
  return text;
}

int RunLine(const CommandLine& line) {
  if (line.list_packed) return PrintToStdout(kName, RenderPackedFuncs());
  return RunProgram(line);
}

}  // namespace

int RunIrRun(const std::vector<std::string>& arguments) {
  return RunCommandLine(kDescription, arguments, ParseCommandLine, RunLine);
}

}  // namespace iropt
