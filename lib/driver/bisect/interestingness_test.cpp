#include "interestingness_test.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "configs/relax.mode.h"
#include "driver/check/checks_of_each_pass.h"
#include "driver/check/race_check.h"
#include "driver/check/verify_each.h"
#include "iropt/observe/pass_counter.h"
#include "iropt/observe/watchdog.h"
#include "iropt/semantics/semantic_check.h"
#include "iropt/support/child_process.h"
#include "iropt/support/crash.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/shell.h"

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;

// Of shells, for a command that does not exist or cannot be run.
constexpr int kFirstCannotRun = 126;
constexpr int kLastCannotRun = 127;

// What -bisect takes and is not a command.
constexpr std::string_view kOtherChecks[] = {"verify", "semantics"};

// In a child: it could not find out whether the module is good.
constexpr ErrorCode kCannotSay = ErrorCode::Internal;

// The lines that a child writes: one for each step that begins, then one with the result. The thread that watches
// limits may write the last one.
class ResultLines {
 public:
  explicit ResultLines(OutputStream& out) : out_(out) {}

  void Write(const Json& line) {
    const std::scoped_lock lock(mutex_);
    out_.Append(line.dump(-1, ' ', false, Json::error_handler_t::replace));
    out_.Append('\n');
    static_cast<void>(out_.Flush());
  }

 private:
  OutputStream& out_;
  std::mutex mutex_;
};

// Adds the limits to the context, for a run on the module. A run that exceeds them ends the child with its result.
std::shared_ptr<Watchdog> AddLimits(const RunLimits& limits, const Module& module, PassContext& context,
                                    ResultLines& lines) {
  const auto counter = std::make_shared<PassCounter>();
  auto watchdog = std::make_shared<Watchdog>(limits, *context.diagnostics, counter);
  watchdog->set_on_exceeded([&lines](const std::string& message) {
    lines.Write({{"good", false}, {"code", ExitCode(ErrorCode::Budget)}, {"reason", message}});
    _exit(0);  // the pass cannot be interrupted
  });
  watchdog->SetInput(module);
  watchdog->Start();
  context.instruments.push_back(counter);
  context.instruments.push_back(watchdog);
  return watchdog;
}

// The first error of a run, with its first note, which has the errors that were found.
std::string ReasonOf(const Error& error, const std::vector<Diagnostic>& diagnostics) {
  std::string reason = error.message;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::Error) continue;
    if (!reason.empty()) reason += ": ";
    reason += diagnostic.message;
    if (!diagnostic.notes.empty()) reason += fmt::format(": {}", diagnostic.notes.front().message);
    return reason;
  }
  return reason;
}

}  // namespace

std::string CannotSay(const std::string& not_compared) {
  return fmt::format("-bisect=semantics cannot say that the result is good: {}", not_compared);
}

InterestingnessTest::~InterestingnessTest() {
  if (file_.empty()) return;
  std::error_code error;
  std::filesystem::remove(file_, error);
  KeepFileOnCrash(file_);
}

Status InterestingnessTest::MakeFile() {
  if (!file_.empty()) return {};
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  constexpr std::string_view kExtension = ".ir";
  std::string path = (folder / fmt::format("ir-opt-XXXXXX{}", kExtension)).string();
  const int fd = error ? -1 : mkstemps(path.data(), static_cast<int>(kExtension.size()));
  if (fd < 0) return Error{ErrorCode::Usage, fmt::format("-bisect cannot make a file in '{}'", folder.string())};
  close(fd);
  RemoveFileOnCrash(path);
  file_ = std::move(path);
  return {};
}

Status InterestingnessTest::RunCommand(const Module& module) const {
  const Status written = WriteFileAtomically(file_, [&](OutputStream& out) {
    compiler_.Print(module, out, file_);
    return out.Flush();
  });
  if (!written.ok()) return Error{kCannotSay, written.error().message};
  IROPT_ASSIGN_OR_RETURN(const int code, RunShellCommand(CommandOn(request_.command, file_)));
  if (code == 0) return {};
  if (code >= kFirstCannotRun && code <= kLastCannotRun) {
    return Error{kCannotSay, fmt::format("the command '{}' of -bisect cannot be run (exit code {}){}", request_.command,
                                         code, DidYouMean(request_.command, kOtherChecks))};
  }
  return Error{ErrorCode::PassFailed, fmt::format("the command ends with exit code {}", code)};
}

Status InterestingnessTest::RunAndCheck(Module module, const Pass& pass, PassContext& context,
                                        std::string& not_compared) const {
  if (request_.check == BisectRequest::Check::Verify || request_.semantics.each) {
    ChecksOfEachPass checks = MakeChecksOfEachPass(compiler_, &pass, context);
    context.instruments.push_back(std::move(checks.before));
    std::ranges::move(checks.after, std::back_inserter(context.instruments));
  }
  std::shared_ptr<RaceCheck> races;
  if (request_.check == BisectRequest::Check::Races) {
    const auto audit = std::make_shared<ChangeAudit>();
    races = std::make_shared<RaceCheck>(&pass, audit, compiler_.diagnostics());
    context.instruments.push_back(audit);
    context.instruments.push_back(races);
  }
  std::shared_ptr<SemanticCheck> semantics;
  if (request_.check == BisectRequest::Check::Semantics) {
    SemanticCheckOptions options = request_.semantics;
    options.is_required = false;  // what is not compared is not bad
    Result<std::shared_ptr<SemanticCheck>> made = SemanticCheck::Make(
        compiler_.diagnostics(), compiler_.err(), options, NetworkModeOf(context.Config(config::relax::mode)));
    if (!made.ok()) return Error{kCannotSay, made.error().message};
    semantics = *std::move(made);
    context.instruments.push_back(semantics);
    semantics->Begin(module);
  }
  With<PassContext> scope(context);
  if (!scope.status().ok()) return Error{scope.status().error()};
  IROPT_ASSIGN_OR_RETURN(const PassResult result, pass(std::move(module), context));
  if (!VerifyModule(result.module, compiler_.verify_options(), compiler_.diagnostics()))
    return Failure{ErrorCode::Rejected};
  if (semantics) {
    IROPT_RETURN_IF_ERROR(semantics->FinishComparing(result.module));
    not_compared = semantics->first_not_compared();
    const bool must_compare = request_.semantics.is_required || compiler_.options().warnings_as_errors;
    if (must_compare && !not_compared.empty()) return Error{kCannotSay, CannotSay(not_compared)};
    return {};
  }
  if (races) return races->Check(result.module, RaceOptions());
  return request_.check == BisectRequest::Check::Command ? RunCommand(result.module) : Status();
}

void InterestingnessTest::Work(Module module, const Pass& pass, PassContext context, const RunExtent& extent,
                               OutputStream& out) const {
  ResultLines lines(out);
  context.instruments.clear();
  context.threads = 1;
  context.printer = [](const Module&, const std::string&) { return Status(); };
  context.text_printer = [](std::string_view) { return Status(); };
  const auto bisect = std::make_shared<OptBisect>(extent.steps, [&](const BisectStep& step, bool runs) {
    if (runs) lines.Write({{"number", step.number}, {"pass", step.pass}, {"function", step.function}});
  });
  if (counts_mandatory_) bisect->CountMandatory();
  context.instruments.push_back(bisect);
  if (extent.rewrites) {
    const auto tell = [&](const CountedRewrite& made) {
      lines.Write({{"rewrite", made.number}, {"kind", made.kind}, {"begin", made.span.begin}, {"end", made.span.end}});
    };
    context.instruments.push_back(std::make_shared<RewriteLimits>(std::vector{*extent.rewrites}, tell));
  }
  std::shared_ptr<Watchdog> watchdog;
  if (request_.limits.any()) watchdog = AddLimits(request_.limits, module, context, lines);
  const DiagnosticCapture capture(compiler_.diagnostics());
  std::string not_compared;
  const Status status = RunAndCheck(std::move(module), pass, context, not_compared);
  if (watchdog) watchdog->Stop();
  Json line = {{"good", status.ok()}, {"not_compared", not_compared}};
  if (!status.ok()) {
    line["code"] = ExitCode(status.error().code);
    line["reason"] = ReasonOf(status.error(), capture.diagnostics());
  }
  lines.Write(line);
}

Result<Verdict> InterestingnessTest::Try(const Module& module, const Pass& pass, const PassContext& context,
                                         const RunExtent& extent) {
  if (request_.check == BisectRequest::Check::Command) IROPT_RETURN_IF_ERROR(MakeFile());
  IROPT_ASSIGN_OR_RETURN(const ChildReport report,
                         RunInChild([&](OutputStream& out) { Work(module, pass, context, extent, out); }));
  Verdict verdict{.code = ExitCode(ErrorCode::Internal), .reason = report.crash};
  for (std::string_view text = report.text; !text.empty();) {
    const size_t end = std::min(text.find('\n'), text.size());
    const Json line = Json::parse(text.substr(0, end), nullptr, /*allow_exceptions=*/false);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.is_object()) continue;  // the last one before a crash may be cut off
    if (line.contains("rewrite")) {
      verdict.last_rewrite = {line["rewrite"].get<int64_t>(),
                              line["kind"].get<std::string>(),
                              {line["begin"].get<uint32_t>(), line["end"].get<uint32_t>()}};
    } else if (line.contains("number")) {
      verdict.last = {line["number"].get<int64_t>(), line["pass"].get<std::string>(),
                      line["function"].get<std::string>()};
    } else if (report.crash.empty()) {
      verdict.is_good = line["good"].get<bool>();
      verdict.code = line.value("code", 0);
      verdict.reason = line.value("reason", std::string());
      verdict.not_compared = line.value("not_compared", std::string());
    }
  }
  const bool cannot_say = report.crash.empty() && verdict.code == ExitCode(kCannotSay);
  if (cannot_say) return Error{ErrorCode::Usage, verdict.reason};
  return verdict;
}

}  // namespace iropt
