#include "iropt/reduce/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "iropt/driver/compiler_instance.h"
#include "iropt/exchange/formats.h"
#include "iropt/observe/output_files.h"
#include "iropt/observe/progress.h"
#include "iropt/pass/timing.h"
#include "iropt/support/crash.h"
#include "iropt/support/file.h"
#include "iropt/support/parallel.h"
#include "iropt/support/status_line.h"
#include "reducer.h"
#include "test_case.h"
#include "test_runner.h"

namespace iropt {

namespace {

size_t LinesOf(std::string_view text) { return static_cast<size_t>(std::ranges::count(text, '\n')); }

class ReduceRun {
 public:
  ReduceRun(CompilerInstance& compiler, const ReduceOptions& options) : compiler_(compiler), options_(options) {}

  // Returns the exit code.
  Result<int> Execute() {
    const CrashNote note("reducing", options_.input);
    IROPT_RETURN_IF_ERROR(compiler_.LoadPlugins(options_.plugins));
    IROPT_RETURN_IF_ERROR(CheckFiles());
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> text, ReadFile(options_.input));
    const ModuleSource source = compiler_.SourceAt(options_.input, text);
    compiler_.set_input(source.name, {});
    IROPT_ASSIGN_OR_RETURN(
        runner_,
        TestRunner::Create(
            {.command = options_.test, .name = NameOfFiles(), .jobs = Jobs(), .timeout = options_.test_timeout}));
    TestCaseMaker maker(compiler_, runner_->folder());
    IROPT_ASSIGN_OR_RETURN(const TestCase input, maker.ReadInput(source));
    // Fails now rather than after the search if the file cannot be written.
    IROPT_RETURN_IF_ERROR(compiler_.weights().CheckOutputPath(options_.output));
    IROPT_RETURN_IF_ERROR(maker.PrintTo(input, options_.output));
    IROPT_ASSIGN_OR_RETURN(AtomicFile output, AtomicFile::Create(options_.output));
    IROPT_ASSIGN_OR_RETURN(TestCase test_case, CheckInput(maker, input, source.text));
    if (runner_->interrupted()) return kInterruptedExitCode;
    lines_before_ = LinesOf(IsScript(source.text) ? source.text : std::string_view(test_case.text));
    functions_before_ = input.parts.module.size();
    return Search(maker, std::move(test_case), output);
  }

 private:
  // The output replaces no other file that is read than the input.
  Status CheckFiles() const {
    OutputFiles files;
    for (const std::string& path : options_.compiler.response_files) files.AddRead("the response file", path);
    for (const PluginRecord& plugin : compiler_.registry().plugins()) files.AddRead("-load-pass-plugin", plugin.path);
    if (options_.compiler.weights) files.AddRead("-weights", *options_.compiler.weights);
    return files.Claim("-output", options_.output);
  }

  int Jobs() const { return options_.jobs > 0 ? options_.jobs : DefaultThreadCount(); }

  std::string NameOfFiles() const {
    const std::string name = std::filesystem::path(options_.input).filename().string();
    if (IsStandardStream(options_.input) || name.empty()) return "input.ir";
    return IsScript("") ? name : name + ".ir";
  }

  bool IsScript(std::string_view text) const {
    const Result<const FormatRow*> format = compiler_.FormatOf(options_.input, text);
    return !format.ok() || *format == &Formats().front();
  }

  // The input as ir-reduce prints it, after the tests that both texts are interesting. Files in other formats are
  // tested as the TVMScript that they become.
  Result<TestCase> CheckInput(const TestCaseMaker& maker, const TestCase& input, std::string_view text) {
    if (IsScript(text)) IROPT_RETURN_IF_ERROR(ExpectInteresting(text, "the input is not interesting"));
    const std::optional<std::string> printed = maker.Print(input.parts);
    std::optional<TestCase> test_case = printed ? maker.Read(*printed) : std::nullopt;
    if (!test_case) {
      if (printed) static_cast<void>(compiler_.ParseModule(*printed, "<output>"));  // reports why
      compiler_.diagnostics().Error({}, "roundtrip-mismatch", "the input does not read back after printing");
      return Failure{ErrorCode::Rejected};
    }
    IROPT_RETURN_IF_ERROR(ExpectInteresting(*printed, "the input is not interesting after printing it as ir-opt does"));
    return *std::move(test_case);
  }

  Status ExpectInteresting(std::string_view text, std::string_view message) {
    if (runner_->interrupted()) return {};
    IROPT_ASSIGN_OR_RETURN(const TestRunner::Outcome outcome, runner_->Run(text));
    if (outcome.verdict == TestVerdict::Interesting || runner_->interrupted()) return {};
    DiagnosticBuilder error = compiler_.diagnostics().Error(
        {}, "not-interesting", fmt::format("{}: the test gives {}, expected exit code 0", message, outcome.status));
    error.Note(fmt::format("the test is: {}", options_.test));
    if (!outcome.output.empty()) error.Note(fmt::format("its output is:\n{}", LastLines(outcome.output)));
    return Failure{ErrorCode::SemanticCheck};
  }

  static std::string_view LastLines(std::string_view text) {
    constexpr size_t kLines = 20;
    while (text.ends_with('\n')) text.remove_suffix(1);
    size_t begin = text.size();
    for (size_t i = 0; i < kLines && begin != std::string_view::npos && begin > 0; ++i)
      begin = text.rfind('\n', begin - 1);
    return begin == std::string_view::npos || begin == 0 ? text : text.substr(begin + 1);
  }

  Result<int> Search(const TestCaseMaker& maker, TestCase test_case, AtomicFile& output) {
    const Stopwatch watch;
    const bool shows_progress = Progress::IsWanted(options_.progress);
    const auto watcher = [&](std::string_view reduction, const TestCase& current) {
      if (!shows_progress) return;
      ShowStatusLine(fmt::format("{}: {} lines, {} tests, {:.0f} s", reduction, LinesOf(current.text), runner_->tests(),
                                 watch.Read().wall_seconds));
    };
    Reducer reducer(std::move(test_case), maker, *runner_, watcher);
    const Status searched = reducer.Run();
    EraseStatusLine();
    const std::string& text = reducer.test_case().text;
    IROPT_ASSIGN_OR_RETURN(const std::string written, maker.PrintTo(reducer.test_case(), options_.output));
    output.stream().Append(written);
    IROPT_RETURN_IF_ERROR(output.Commit());
    compiler_.diagnostics().Remark({}, "reduced", Summary(reducer, watch.Read().wall_seconds));
    if (options_.stats) PrintStatistics(reducer);
    if (!searched.ok()) return searched.error();
    if (runner_->interrupted()) {
      compiler_.diagnostics().Warning({}, "interrupted", "the search was interrupted: a smaller module may exist");
      return kInterruptedExitCode;
    }
    return CheckAgain(text);
  }

  // Tests the result once more.
  Result<int> CheckAgain(const std::string& text) {
    IROPT_ASSIGN_OR_RETURN(const TestRunner::Outcome outcome, runner_->Run(text));
    if (runner_->interrupted() || outcome.verdict == TestVerdict::Interesting) return 0;
    compiler_.diagnostics().Error(
        {}, "flaky-test",
        fmt::format("the test is not deterministic: a second test of the result gives {}", outcome.status));
    return ExitCode(ErrorCode::SemanticCheck);
  }

  std::string Summary(const Reducer& reducer, double seconds) const {
    return fmt::format("reduced from {} to {} lines and from {} to {} functions by {} tests in {:.1f} s", lines_before_,
                       LinesOf(reducer.test_case().text), functions_before_, reducer.test_case().parts.module.size(),
                       runner_->tests(), seconds);
  }

  void PrintStatistics(const Reducer& reducer) {
    OutputStream& err = compiler_.err();
    err.Append("candidates  rejected successes   seconds  reduction\n");
    for (size_t i = 0; i < reducer.counts().size(); ++i) {
      const ReductionCounts& counts = reducer.counts()[i];
      err.Append(fmt::format("{:>10} {:>9} {:>9} {:>9.2f}  {}\n", counts.candidates, counts.rejected, counts.successes,
                             counts.seconds, Reductions()[i].name));
    }
    static_cast<void>(err.Flush());
  }

  CompilerInstance& compiler_;
  const ReduceOptions& options_;
  std::unique_ptr<TestRunner> runner_;
  size_t lines_before_ = 0;
  size_t functions_before_ = 0;
};

}  // namespace

int RunReduce(const ReduceOptions& options) {
  CompilerInstance compiler(options.compiler);
  const Result<int> code = ReduceRun(compiler, options).Execute();
  return code.ok() ? *code : compiler.Report(code.error(), "usage");
}

}  // namespace iropt
