#include "iropt/driver/driver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "iropt/analysis/well_formed.h"
#include "iropt/support/crash.h"
#include "iropt/text/parser.h"
#include "iropt/text/printer.h"
#include "session.h"
#include "split_input.h"
#include "verify_result.h"

namespace iropt {

namespace {

// Times of what the driver itself does; the passes have their own table.
struct StepTimes {
  TimeSpent read;
  TimeSpent verify;
  TimeSpent passes;
  TimeSpent print;
};

class Run {
 public:
  explicit Run(Session& session) : session_(session), options_(session.options()) {}

  // Works on all parts of the input, also after one has failed, and writes the output if none has.
  int Execute() {
    Result<std::shared_ptr<const FileBuffer>> input = ReadFile(options_.input);
    if (!input.ok()) return session_.Fail(input.error(), "file");
    std::vector<InputPart> parts{{(*input)->text(), 1}};
    if (options_.split_input_file) parts = SplitInput((*input)->text());
    With<PassContext> scope(session_.context());
    if (!scope.status().ok()) return session_.Fail(scope.status().error(), "pass-failed");
    int code = 0;
    std::vector<Module> modules;
    for (const InputPart& part : parts) {
      std::optional<Module> module;
      const int part_code = ProcessPart(part, *input, module);
      if (code == 0) code = part_code;
      if (module) modules.push_back(*std::move(module));
    }
    // Before anything is written: what fails here fails the run.
    if (const Status left = scope.Exit(); code == 0 && !left.ok()) code = session_.Fail(left.error(), "pass-failed");
    if (code == 0 && !options_.verify_only) code = Write(modules);
    ShowTimes();
    return code;
  }

 private:
  std::string InputName() const { return options_.input == "-" ? "<stdin>" : options_.input; }

  int ProcessPart(const InputPart& part, const std::shared_ptr<const FileBuffer>& owner,
                  std::optional<Module>& module) {
    const Stopwatch read_watch;
    const Result<uint32_t> base = session_.sources().AddBuffer(InputName(), part.text, owner, part.first_line);
    if (!base.ok()) return session_.Fail(base.error(), "file");
    const CrashNote note("working on", options_.input);
    const ParseOptions reading{.threads = session_.threads(),
                               .on_read = [&](std::string_view text) { owner->Discard(text); }};
    module = ParseModule(part.text, *base, reading, session_.diagnostics());
    if (!module) return ExitCode(ErrorCode::Parse);
    times_.read += read_watch.Read();
    if (session_.report() != nullptr) session_.report()->Read(InputName(), *module, read_watch.Read());
    if (!Verify(*module)) return ExitCode(ErrorCode::IllFormed);
    if (options_.verify_only) return 0;
    const int code = RunPasses(*module);
    return code == 0 ? VerifyResult(*module) : code;
  }

  bool Verify(const Module& module) {
    if (options_.no_verify && !options_.verify_only) return true;
    const Stopwatch watch;
    const VerifyOptions checks{.check_types = !options_.skip_type_check, .threads = session_.threads()};
    const bool ok = VerifyModule(module, checks, session_.diagnostics());
    times_.verify += watch.Read();
    if (session_.report() != nullptr) session_.report()->Step("check", watch.Read());
    return ok;
  }

  int RunPasses(Module& module) {
    if (session_.pass() == nullptr) {
      if (options_.explain_pipeline) Say("no pass runs: there is no pipeline, and no level that would have one\n");
      return 0;
    }
    const Stopwatch watch;
    Result<PassResult> result = (*session_.pass())(std::move(module), session_.context());
    times_.passes += watch.Read();
    Explain();
    if (result.ok()) {
      module = std::move(result->module);
      return 0;
    }
    const bool rejected = result.error().code == ErrorCode::Rejected;
    return session_.Fail(result.error(), rejected ? "ill-formed-result" : "pass-failed");
  }

  int VerifyResult(const Module& module) {
    ResultVerifier verifier(print_options(), session_.sources(), session_.diagnostics());
    Status ok;
    if (options_.verify_roundtrip) ok = verifier.CheckRoundTrip(module);
    if (ok.ok() && options_.verify_idempotent && session_.pass() != nullptr) {
      ok = verifier.CheckIdempotent(module, *session_.pass(), session_.context());
    }
    return ok.ok() ? 0 : session_.Fail(ok.error(), "pass-failed");
  }

  PrintOptions print_options() const {
    return {.inline_constants = options_.inline_constants, .threads = session_.threads()};
  }

  void Explain() {
    if (session_.explanation() != nullptr) Say(session_.explanation()->Render());
  }

  void Say(std::string_view text) {
    session_.err().Append(text);
    static_cast<void>(session_.err().Flush());
  }

  int Write(const std::vector<Module>& modules) {
    const CrashNote note("writing", options_.output);
    const Stopwatch watch;
    const PrintOptions print = print_options();
    const Status written = WriteFileAtomically(options_.output, [&](OutputStream& out) {
      for (size_t i = 0; i < modules.size(); ++i) {
        if (i != 0) out.Append(fmt::format("{}\n", kSplitMarker));
        PrintModule(modules[i], print, out);
      }
      return out.status();
    });
    times_.print += watch.Read();
    if (!written.ok()) return session_.Fail(written.error(), "file");
    if (session_.report() != nullptr) session_.report()->Step("write", watch.Read());
    return 0;
  }

  void ShowTimes() {
    if (session_.timing() == nullptr) return;
    const auto row = [](std::string_view what, TimeSpent t) {
      return fmt::format("{:>11.3f}{:>11.3f}  {}\n", 1e3 * t.wall_seconds, 1e3 * t.cpu_seconds, what);
    };
    std::string text = session_.timing()->Render();
    text += fmt::format("{:>11}{:>11}  step\n", "wall ms", "cpu ms");
    text += row("read", times_.read) + row("check", times_.verify) + row("passes", times_.passes);
    text += row("write", times_.print);
    Say(text);
  }

  Session& session_;
  const DriverOptions& options_;
  StepTimes times_;
};

int ShowPipeline(Session& session, PipelineForm form) {
  OutputStream out(STDOUT_FILENO);
  out.Append(form == PipelineForm::Json ? session.PrintPipelineFile() : session.PrintPipeline());
  const Status written = out.Flush();
  return written.ok() ? 0 : session.Fail(written.error(), "file");
}

}  // namespace

int RunDriver(const DriverOptions& options) {
  Session session(options);
  if (const Status ready = session.SetUp(); !ready.ok()) return session.Fail(ready.error(), "usage");
  if (options.print_pipeline != PipelineForm::None) return ShowPipeline(session, options.print_pipeline);
  return Run(session).Execute();
}

}  // namespace iropt
