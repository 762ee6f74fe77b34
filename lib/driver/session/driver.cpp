#include "iropt/driver/driver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "driver/bisect/bisection.h"
#include "driver/bisect/local_reproducer.h"
#include "driver/check/verify_result.h"
#include "driver/instruments/check.h"
#include "driver/pipeline/pipeline_setup.h"
#include "driver/precision/precision_stage.h"
#include "driver/precision/quantization_stage.h"
#include "driver/session/reproducer.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/expected_diagnostics.h"
#include "iropt/driver/generated_checks.h"
#include "iropt/driver/split_input.h"
#include "iropt/ir/target.h"
#include "iropt/observe/checkpoints.h"
#include "iropt/observe/repeated_passes.h"
#include "iropt/support/crash.h"
#include "iropt/support/debug_output.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/file_log.h"
#include "iropt/support/scratch_file.h"
#include "iropt/text/script/printer.h"
#include "iropt/text/script/version.h"

namespace iropt {

namespace {

// The folder of a file that is written; empty for streams and devices.
std::string FolderOfOutput(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  const bool is_file = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
  if (IsStandardStream(path) || !is_file) return {};
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

class Run {
 public:
  // `log` began before the setup.
  Run(CompilerInstance& compiler, PipelineSetup& setup, const DriverOptions& options, const FileLog& log)
      : compiler_(compiler), setup_(setup), options_(options), log_(log) {
    if (!options.debug_channels.empty()) {
      debug_output_.emplace(options.debug_channels, [this](std::string_view channel, std::string_view line) {
        Say(fmt::format("[{}] {}\n", channel, line));
      });
    }
    if (options.snapshots.reproducer && !options.bisect)
      reproducer_.emplace(*options.snapshots.reproducer, setup.Settings(), compiler);
  }

  // Works on all inputs, also after one has failed. The exit code is the highest of theirs.
  int Execute() {
    std::optional<DebugScope> debug;
    if (debug_output_) debug.emplace(*debug_output_);
    int code = 0;
    if (setup_.pairs().size() > 1) compiler_.set_names_inputs();
    for (const InputOutput& pair : setup_.pairs()) {
      pair_ = &pair;
      test_.reset();
      // What passes do not keep in memory is where the output goes: there is the space for it.
      ScratchFile::SetFolder(FolderOfOutput(pair.output));
      setup_.run().BeginInput();
      const int pair_code = ExecuteOrRunOutOfMemory();
      has_failed_ |= pair_code != 0;
      code = std::max(code, pair_code);
    }
    return setup_.run().Finish(code);
  }

 private:
  int ExecuteOrRunOutOfMemory() {
    try {
      return ExecuteParts();
    } catch (const std::bad_alloc&) {
      const std::string message = fmt::format("out of memory while {} '{}'", activity_, InputName());
      return compiler_.Report({ErrorCode::Budget, message}, "budget");
    }
  }

  // Works on all parts of the input, also after one has failed, and writes the modules of those that have not. The exit
  // code is that of the first failure. A file is written only if there is none: it is replaced as a whole.
  int ExecuteParts() {
    activity_ = "reading";
    const size_t errors_before = compiler_.diagnostics().error_count();
    if (const Status ready = AddExternalizer(); !ready.ok()) return compiler_.Report(ready.error(), "usage");
    // People who forgot to name a file would wait for nothing.
    if (pair_->input == "-" && isatty(STDIN_FILENO) != 0) {
      Say("ir-opt: reading the standard input, which Ctrl-D ends; -help lists the flags\n");
    }
    Result<std::shared_ptr<const FileBuffer>> input = ReadFile(pair_->input);
    if (!input.ok()) return compiler_.Report(input.error(), "file");
    if (options_.output.check_prefix) {
      const Status valid = CheckCheckPrefix(*options_.output.check_prefix);
      if (!valid.ok()) return compiler_.Report(valid.error(), "usage");
      test_ = *input;
    }
    const Result<const FormatRow*> format = compiler_.FormatOf(pair_->input, (*input)->text());
    if (!format.ok()) return compiler_.Report(format.error(), "usage");
    const Result<std::vector<InputPart>> split = Split(*input);
    if (!split.ok()) return compiler_.Report(split.error(), "usage");
    const std::vector<InputPart>& parts = *split;
    const Result<const FormatRow*> output = compiler_.OutputFormatOf(pair_->output, options_.output.emit);
    const bool is_rewritten = output.ok() && *output == *format;
    With<PassContext> scope(setup_.context());
    if (!scope.status().ok()) return compiler_.Report(scope.status().error(), "pass-failed");
    int code = 0;
    ModuleSource part = compiler_.SourceAt(pair_->input, *input);
    part.format = *format;
    part.output = is_rewritten ? *format : nullptr;
    if (!options_.cut.empty())
      part.transform = [this](const Module& module) {
        return CutModule(module, options_.cut, compiler_.diagnostics());
      };
    std::vector<std::optional<Module>> modules(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      compiler_.set_input(InputName(), parts.size() == 1
                                           ? std::string()
                                           : fmt::format("chunk {}, from line {}", i + 1, parts[i].first_line));
      part.text = parts[i].text;
      part.first_line = parts[i].first_line;
      if (reproducer_) reproducer_->Begin(part);
      const int part_code =
          options_.checks.diagnostics ? ProcessAndCompare(part, modules[i]) : ProcessPart(part, modules[i]);
      if (code == 0) code = part_code;
      if (part_code == 0) continue;
      modules[i].reset();
      WriteReproducer(part_code);
    }
    compiler_.set_input({}, {});
    setup_.run().EndInput();
    if (is_last() && code == 0 && !has_failed_) WarnOfUnused();
    if (code == 0 && test_) {
      for (const std::optional<Module>& module : modules)
        WarnOfUncheckedValues(*module, options_.compiler.inline_constants, compiler_.diagnostics());
    }
    // Before anything is written, because a failure here fails the run.
    if (const Status left = scope.Exit(); code == 0 && !left.ok()) code = compiler_.Report(left.error(), "pass-failed");
    // Warnings of passes, under -Werror.
    if (code == 0 && compiler_.diagnostics().error_count() != errors_before) code = ExitCode(ErrorCode::PassFailed);
    const bool all_done =
        code == 0 && std::ranges::all_of(modules, [](const auto& module) { return module.has_value(); });
    const bool writes = all_done || (parts.size() > 1 && pair_->output == "-");
    if (writes && WritesModules(options_)) {
      const int write_code = Write(modules);
      if (code == 0) code = write_code;
      if (code == 0) ShowSavings();
    }
    return code;
  }

  // The weights of each module go to a file next to it.
  Status AddExternalizer() {
    if (!options_.output.external_constants) return {};
    IROPT_ASSIGN_OR_RETURN(std::string path, ConstantExternalizer::PathNextTo(pair_->output));
    compiler_.weights().SetExternalizer(
        std::make_unique<ConstantExternalizer>(std::move(path), *options_.output.external_constants,
                                               options_.compiler.inline_constants, compiler_.weights().files()));
    return {};
  }

  Result<std::vector<InputPart>> Split(const std::shared_ptr<const FileBuffer>& input) {
    if (!options_.split_marker) return std::vector<InputPart>{{input->text(), 1}};
    const std::string& marker = *options_.split_marker;
    IROPT_RETURN_IF_ERROR(CheckSplitMarker(marker));
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.sources().AddBuffer(InputName(), input->text(), input));
    WarnOfNearMarkers(input->text(), base, marker, compiler_.diagnostics());
    return SplitInput(input->text(), marker);
  }

  bool is_last() const { return pair_ == &setup_.pairs().back(); }

  std::string InputName() const { return pair_->input == "-" ? "<stdin>" : pair_->input; }

  void WriteReproducer(int code) {
    if (!reproducer_) return;
    const Status written = reproducer_->Write(FindLocalReproducer(code));
    if (!written.ok())
      compiler_.Report({written.error().code, fmt::format("-reproducer: {}", written.error().message)}, "file");
  }

  // Nothing if the failure with this exit code is not that of one pass on the module before it.
  std::optional<LocalReproducer> FindLocalReproducer(int code) {
    std::optional<FailurePoint> point;
    if (setup_.failed_pass() != nullptr) point = setup_.failed_pass()->Take();
    if (!point) return std::nullopt;
    BisectRequest request;
    if (const InstrumentSpec* semantics = setup_.FindInstrument("check-semantics")) {
      Result<SemanticCheckOptions> check = ReadSemanticCheck(*semantics, compiler_.diagnostics());
      if (check.ok()) request = {.check = BisectRequest::Check::Semantics, .semantics = *std::move(check)};
    }
    InterestingnessTest test(compiler_, std::move(request));
    Result<std::optional<LocalReproducer>> local = Localizer(compiler_, setup_, test).Find(*point, code);
    return local.ok() ? *std::move(local) : std::nullopt;
  }

  int Bisect(const Module& module, BisectRequest request) {
    if (request.check == BisectRequest::Check::Precision) return Precision(module);
    request.limits = setup_.limits();
    request.semantics = setup_.semantics();
    const Status found = Bisection(compiler_, setup_, std::move(request), options_.snapshots.reproducer).Run(module);
    if (found.ok()) return 0;
    return compiler_.Report(found.error(),
                            found.error().code == ErrorCode::Usage ? DiagId("usage") : DiagId("pass-failed"));
  }

  // -bisect=precision and -lint, on the module after the passes.
  int Precision(Module module) {
    if (setup_.pass() != nullptr) {
      if (const int code = RunPasses(module); code != 0) return code;
    }
    activity_ = "running functions of";
    const NetworkMode mode = setup_.settings().network_mode();
    const PrecisionOptions& options = options_.precision;
    const Status done = options.lints ? LintPrecision(compiler_, options, mode, module)
                                      : BisectPrecision(compiler_, options, mode, module);
    return done.ok() ? 0 : compiler_.Report(done.error(), "no-value");
  }

  // The current chunk.
  std::string Subject() const {
    const std::string& chunk = compiler_.chunk();
    return chunk.empty() ? InputName() : fmt::format("{} ({})", InputName(), chunk);
  }

  int ProcessPart(const ModuleSource& part, std::optional<Module>& module) {
    activity_ = "reading";
    const Stopwatch read_watch;
    const std::string subject = Subject();
    const CrashNote note("working on", subject);
    Result<Module> read = compiler_.Parse(part);
    if (!read.ok()) return compiler_.Report(read.error(), "file");
    module = *std::move(read);
    setup_.LimitConstants(*module, part.output ? part.output->max_constant_growth : -1);
    setup_.run().OnRead(subject, *module, read_watch);
    setup_.filter().Observe(*module);
    if (!Verify(*module)) return ExitCode(ErrorCode::IllFormed);
    if (options_.verify_only) return 0;
    activity_ = "running passes on";
    if (options_.precision.lints) return Precision(*module);
    if (options_.bisect) return Bisect(*module, *options_.bisect);
    if (const int code = RunPasses(*module); code != 0) return code;
    setup_.filter().Observe(*module);
    if (!CheckTextSize(*module, compiler_.diagnostics())) return ExitCode(ErrorCode::Budget);
    // Parsing has refused unknown versions.
    if (compiler_.named_version()->has_value() && !CheckTextVersion(*module, compiler_.diagnostics()))
      return ExitCode(ErrorCode::Rejected);
    compiler_.weights().Externalize(*module);
    const int code = VerifyResult(part, *module);
    // A pass may have computed with damaged weights.
    const Status weights = compiler_.weights().Check();
    return weights.ok() ? code : compiler_.Report(weights.error(), "bad-weights");
  }

  // Processes a part and compares its diagnostics with those that it expects, for -verify-diagnostics.
  int ProcessAndCompare(const ModuleSource& part, std::optional<Module>& module) {
    Result<uint32_t> base = compiler_.sources().AddBuffer(part.name, part.text, part.owner, part.first_line);
    if (!base.ok()) return compiler_.Report(base.error(), "file");
    DiagnosticEngine& diagnostics = compiler_.diagnostics();
    const size_t errors_before = diagnostics.error_count();
    const std::vector<ExpectedDiagnostic> expected = ReadExpectations(part.text, *base, part.first_line, diagnostics);
    if (diagnostics.error_count() != errors_before) return ExitCode(ErrorCode::Rejected);
    std::vector<Diagnostic> found;
    {
      const DiagnosticCapture capture(diagnostics);
      if (ProcessPart(part, module) != 0) module.reset();
      found = capture.diagnostics();
    }
    const bool same =
        CompareDiagnostics(expected, found, options_.checks.only_expected, part.name, compiler_.sources(), diagnostics);
    return same ? 0 : ExitCode(ErrorCode::Rejected);
  }

  bool Verify(const Module& module) {
    if (compiler_.options().no_verify) return true;
    activity_ = "checking";
    const StepTimer timer(setup_.run(), RunStep::Check);
    return compiler_.Verify(module, /*allow_free_vars=*/!options_.verify_only).ok();
  }

  int RunPasses(Module& module) {
    setup_.run().BeforePasses(module);
    const bool lowers = !options_.precision.format.empty() && WritesModules(options_);
    if (setup_.pass() == nullptr && !lowers) {
      setup_.run().AfterPasses(module);
      setup_.run().EndPasses();
      return 0;
    }
    if (const Status removed = setup_.RemoveOldDumps(); !removed.ok()) return compiler_.Report(removed.error(), "file");
    if (setup_.pass() != nullptr) RemarkNothingToDo(module);
    std::optional<Module> input;
    if (options_.repeat != 0) input = module;
    Result<PassResult> result = RunPipeline(std::move(module));
    if (result.ok() && lowers) result = LowerPrecision(std::move(result->module));
    setup_.run().EndPasses();
    if (result.ok()) {
      module = std::move(result->module);
      setup_.run().AfterPasses(module);
      return input ? MeasurePasses(*input) : 0;
    }
    const bool rejected = result.error().code == ErrorCode::Rejected;
    return compiler_.Report(result.error(), rejected ? DiagId("ill-formed-result") : DiagId("pass-failed"));
  }

  Result<PassResult> LowerPrecision(Module module) {
    if (!IsQuantization(options_.precision)) {
      const Pass pass = MakePrecisionPass(compiler_, options_.precision, setup_.settings().network_mode());
      return pass(std::move(module), setup_.context());
    }
    IROPT_ASSIGN_OR_RETURN(const Pass pass, MakeQuantizationPass(compiler_, options_.precision, module));
    return pass(std::move(module), setup_.context());
  }

  void RemarkNothingToDo(const Module& module) {
    if (setup_.settings().has_no_passes()) {
      compiler_.diagnostics().Remark({}, "nothing-to-do", "the pipeline has no passes");
      return;
    }
    RemarkUnusedTarget();
    const auto is_prim = [](const ModuleEntry& entry) { return Is<PrimFunc>(entry.func); };
    if (!setup_.settings().has_only_loop_passes() || std::ranges::any_of(module.functions(), is_prim)) return;
    compiler_.diagnostics().Remark({}, "nothing-to-do",
                                   "the module has no PrimFuncs, and all passes work on PrimFuncs: LegalizeOps makes "
                                   "PrimFuncs of operators");
  }

  // The default pipeline lowers for some kinds of targets only.
  void RemarkUnusedTarget() {
    const std::string_view kind = TargetKindOf(setup_.context().target);
    if (kind.empty() || !options_.pipeline.passes.empty() || options_.pipeline.file) return;
    const auto is_for_target = [&](const PipelineEntry& addition) {
      return addition.name == "default" && (addition.target.empty() || addition.target == kind);
    };
    if (std::ranges::any_of(compiler_.registry().pipeline_additions(), is_for_target)) return;
    compiler_.diagnostics().Remark({}, "nothing-to-do",
                                   fmt::format("the default pipeline has no passes for targets of kind '{}': zero "
                                               "lowers operators to loops, dl.ApplyDefaultSchedule schedules them",
                                               kind));
  }

  Result<PassResult> RunPipeline(Module module) {
    if (setup_.pass() == nullptr) return PassResult{std::move(module)};
    const StepTimer timer(setup_.run(), RunStep::Passes);
    Result<PassResult> result = (*setup_.pass())(std::move(module), setup_.context());
    if (result.ok()) CompleteForVersion(result->module);
    return result;
  }

  // Runs the passes again for -repeat, which tell nothing and leave no result.
  int MeasurePasses(const Module& input) {
    activity_ = "measuring passes on";
    RepeatedPasses repeated;
    for (int64_t i = 0; i < options_.repeat; ++i) {
      const auto timing = std::make_shared<PassTimingInstrument>();
      PassContext context = setup_.ContextForAnother();
      context.instruments = {timing};
      context.printer = [](const Module&, const std::string&) { return Status(); };
      context.text_printer = [](std::string_view) { return Status(); };
      Status done;
      {
        const DiagnosticCapture capture(compiler_.diagnostics());
        Result<PassResult> result = (*setup_.pass())(input, context);
        if (!result.ok()) done = result.TakeError();
      }
      if (!done.ok()) return compiler_.Report(done.error(), "pass-failed");
      repeated.Add(*timing);
    }
    Say(setup_.prints_times_as_json() ? repeated.RenderJson(Subject()) : repeated.Render());
    return 0;
  }

  int VerifyResult(const ModuleSource& source, const Module& module) {
    ResultVerifier verifier(compiler_);
    Status ok;
    if (setup_.pass() != nullptr && !compiler_.options().no_verify && setup_.FindInstrument("verify-each") == nullptr) {
      const StepTimer timer(setup_.run(), RunStep::CheckResult);
      ok = verifier.CheckWellFormed(source, module, *setup_.pass(), setup_.CheckingContext());
    }
    if (ok.ok() && options_.checks.roundtrip) ok = verifier.CheckRoundTrip(module);
    if (ok.ok() && options_.checks.idempotence && setup_.pass() != nullptr) {
      ok = verifier.CheckIdempotent(module, *setup_.pass(), setup_.ContextForAnother());
    }
    if (ok.ok() && options_.checks.determinism && setup_.pass() != nullptr) {
      ok = verifier.CheckDeterministic(source, module, *setup_.pass(), setup_.ContextForAnother());
    }
    activity_ = "running functions of";
    if (ok.ok()) ok = setup_.run().CheckResult(module);
    return ok.ok() ? 0 : compiler_.Report(ok.error(), "pass-failed");
  }

  // Warns of options that had no effect.
  void WarnOfUnused() {
    compiler_.weights().WarnOfUnused();
    WarnOfUnmatchedFilter();
    setup_.selection().WarnOfUnreached();
    if (debug_output_) WarnOfUnusedChannels();
  }

  void WarnOfUnusedChannels() {
    const std::vector<std::string> asked = debug_output_->Asked();
    const std::vector<std::string_view> known(asked.begin(), asked.end());
    for (const std::string& channel : debug_output_->Unused()) {
      compiler_.diagnostics().Warning({}, "unused-channel",
                                      fmt::format("-debug-only: no code of channel '{}' ran{}", channel,
                                                  DidYouMeanOr("; code ran of ", channel, known)));
    }
  }

  // Functions that passes add for a while are not looked at.
  void WarnOfUnmatchedFilter() {
    if (!setup_.filter().matches_nothing()) return;
    compiler_.diagnostics().Warning(
        {}, "unmatched-filter",
        fmt::format("-filter-functions: no function matches '{}', before or after the passes",
                    *options_.filter_functions));
  }

  void Say(std::string_view text) {
    compiler_.err().Append(text);
    static_cast<void>(compiler_.err().Flush());
  }

  int Write(const std::vector<std::optional<Module>>& modules) {
    activity_ = "writing";
    setup_.run().BeginOutput();
    const CrashNote note("writing", pair_->output);
    const StepTimer timer(setup_.run(), RunStep::Write);
    const Status written = WriteFiles(modules);
    return written.ok() ? 0 : compiler_.Report(written.error(), "file");
  }

  // What passes, or -precision, made of a file of nodes.
  void ShowSavings() const {
    const FileNodes& nodes = compiler_.file_nodes();
    const CompilerOptions& options = compiler_.options();
    const bool has_passes = setup_.settings().pass() != nullptr && !setup_.settings().has_no_passes();
    const bool changes = has_passes || !options_.precision.format.empty();
    if (!nodes.read || !nodes.written || !changes || options.quiet || options.diagnostics != DiagnosticFormat::Text)
      return;
    OutputStream out(STDERR_FILENO);
    const auto row = [&](std::string_view name, uint64_t before, uint64_t after) {
      const double change = before == 0 ? 0 : 100.0 * (static_cast<double>(after) / static_cast<double>(before) - 1);
      out.Append(fmt::format("{:<7}{:>14}{:>14}{:>+8.1f} %\n", name, before, after, change));
    };
    out.Append(fmt::format("{} -> {}\n{:<7}{:>14}{:>14}\n", InputName(), pair_->output, "", "before", "after"));
    row("nodes", *nodes.read, *nodes.written);
    std::error_code input_error, output_error;
    const auto before = std::filesystem::file_size(pair_->input, input_error);
    const auto after = std::filesystem::file_size(pair_->output, output_error);
    if (!input_error && !output_error) row("bytes", before, after);
    static_cast<void>(out.Flush());
  }

  // The test that the input is, with the checks for the module.
  void WriteTest(const Module& module, OutputStream& out) const {
    std::string text;
    {
      OutputStream stream(&text);
      compiler_.Print(setup_.filter().Select(module), stream, pair_->output);
    }
    out.Append(RenewChecks(test_->text(), text, *options_.output.check_prefix));
  }

  // Writes the functions that the filter selects if the format cannot be read back, else the whole module.
  Status WriteOutput(const Module& module, const FormatRow& row, OutputStream& out) {
    IROPT_ASSIGN_OR_RETURN(const Format* format, LoadFormat(row));
    return compiler_.Write(row.reads ? module : setup_.filter().Select(module), out, pair_->output, *format,
                           setup_.settings().network_mode());
  }

  // Files that passes name by themselves, in a folder that is an option of theirs, are known only now.
  Status CheckNotRead() const {
    const std::string& output = pair_->output;
    if (output == pair_->input || IsStandardStream(output) || !log_.HasRead(output)) return {};
    std::error_code error;
    if (std::filesystem::equivalent(output, pair_->input, error)) return {};
    return Error{ErrorCode::Usage, fmt::format("cannot write '{}': the run has read it", output)};
  }

  // The module, and the weights that it refers to: both files or none.
  Status WriteFiles(const std::vector<std::optional<Module>>& modules) {
    IROPT_RETURN_IF_ERROR(compiler_.weights().CheckOutputPath(pair_->output));
    IROPT_RETURN_IF_ERROR(CheckNotRead());
    if (pair_->output != options_.output.path) IROPT_RETURN_IF_ERROR(MakeOutputFolder(options_.output.path));
    const ConstantExternalizer* externalizer = compiler_.weights().externalizer();
    std::optional<AtomicFile> weights;
    if (externalizer != nullptr && !externalizer->empty()) {
      IROPT_ASSIGN_OR_RETURN(AtomicFile file, externalizer->Write());
      weights.emplace(std::move(file));
    }
    IROPT_ASSIGN_OR_RETURN(const FormatRow* format, compiler_.OutputFormatOf(pair_->output, options_.output.emit));
    IROPT_ASSIGN_OR_RETURN(AtomicFile text, AtomicFile::Create(pair_->output));
    for (size_t i = 0; i < modules.size(); ++i) {
      if (i != 0)
        text.stream().Append(fmt::format("{}\n", options_.output.split_marker.value_or(*options_.split_marker)));
      if (modules[i] && test_) {
        WriteTest(*modules[i], text.stream());
      } else if (modules[i]) {
        IROPT_RETURN_IF_ERROR(WriteOutput(*modules[i], *format, text.stream()));
      }
    }
    IROPT_RETURN_IF_ERROR(text.Finish());
    IROPT_RETURN_IF_ERROR(compiler_.weights().Check());
    if (weights) IROPT_RETURN_IF_ERROR(weights->Commit());
    return text.Commit();
  }

  CompilerInstance& compiler_;
  PipelineSetup& setup_;
  const DriverOptions& options_;
  const FileLog& log_;
  std::optional<DebugOutput> debug_output_;
  std::optional<Reproducer> reproducer_;
  const InputOutput* pair_ = nullptr;       // that is worked on
  bool has_failed_ = false;                 // an input before it
  std::shared_ptr<const FileBuffer> test_;  // the input, for -generate-checks
  const char* activity_ = "reading";        // for messages
};

Status ShowPipeline(const PipelineSetup& setup, ShownForm form) {
  OutputStream out(STDOUT_FILENO);
  out.Append(form == ShownForm::Json ? PrintPipelineFile(setup.Settings()) : setup.settings().PrintedPasses() + '\n');
  return out.Flush();
}

int RunOn(const DriverOptions& options, const CheckpointIndex* resumed) {
  const FileLog log;
  CompilerInstance compiler(options.compiler);
  const bool bisects = options.bisect && options.bisect->check == BisectRequest::Check::Precision;
  if (const Status valid = CheckPrecisionOptions(options.precision, bisects); !valid.ok())
    return compiler.Report(valid.error(), "usage");
  PipelineSetup setup(compiler, options, resumed);
  if (const Status ready = setup.Run(); !ready.ok()) return compiler.Report(ready.error(), "usage");
  if (options.print_pipeline != ShownForm::None) {
    const Status shown = ShowPipeline(setup, options.print_pipeline);
    return shown.ok() ? 0 : compiler.Report(shown.error(), "file");
  }
  const int code = Run(compiler, setup, options, log).Execute();
  // Reports that could not be written are missing.
  const Status told = compiler.err().Flush();
  return code == 0 && !told.ok() ? ExitCode(told.error().code) : code;
}

// The checkpoints of the run that the options describe, up to the pass to begin with.
Result<CheckpointIndex> FindCheckpoints(CompilerInstance& compiler, const DriverOptions& options) {
  const std::string& folder = *options.snapshots.checkpoint_dir;
  IROPT_ASSIGN_OR_RETURN(CheckpointIndex index, CheckpointIndex::Read(folder));
  // Its files are opened by the run itself.
  DriverOptions plain = options;
  plain.snapshots = {};
  plain.flagged_instruments.clear();
  plain.instruments.clear();
  PipelineSetup setup(compiler, plain);
  IROPT_RETURN_IF_ERROR(setup.Run());
  IROPT_ASSIGN_OR_RETURN(const RunIdentity identity, setup.settings().Identity());
  IROPT_RETURN_IF_ERROR(index.ResumeFrom(static_cast<size_t>(*options.snapshots.resume_from), identity, folder));
  return index;
}

// Runs the module of a checkpoint, which holds the rest of the pipeline and the settings.
int Resume(const DriverOptions& options) {
  std::optional<CheckpointIndex> index;
  {
    CompilerInstance compiler(options.compiler);
    Result<CheckpointIndex> found = FindCheckpoints(compiler, options);
    if (!found.ok()) return compiler.Report(found.error(), "usage");
    index = *std::move(found);
  }
  if (index->entries.empty()) return RunOn(options, nullptr);  // nothing had changed before
  DriverOptions rest = options;
  rest.input = fmt::format("{}/{}", *options.snapshots.checkpoint_dir, index->entries.back().file);
  PipelineOptions& pipeline = rest.pipeline;
  pipeline.is_in_input = true;
  pipeline.passes.clear();
  pipeline.file.reset();
  pipeline.plugins.clear();
  rest.instruments.clear();
  return RunOn(rest, &*index);
}

}  // namespace

int RunDriver(const DriverOptions& options) {
  return options.snapshots.resume_from ? Resume(options) : RunOn(options, nullptr);
}

}  // namespace iropt
