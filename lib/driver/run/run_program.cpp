#include "iropt/driver/run_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "binding_values.h"
#include "compare_outputs.h"
#include "driver/pipeline/pipeline_setup.h"
#include "driver/tune/tune_program.h"
#include "iropt/codegen/loop_compiler.h"
#include "iropt/diag/joint_spans.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/execution/call_entry.h"
#include "iropt/execution/outputs.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/observe/output_files.h"
#include "iropt/observe/progress.h"
#include "measure.h"
#include "observers.h"
#include "program.h"

namespace iropt {

namespace {

// The value of a call, and what it says about rounding errors.
struct Outcome {
  HostValue value;
  RunPrecision precision;
  double compile_seconds = 0;
};

// The lines of the sources that the bindings of a module come from.
class BindingLines : public ExprVisitor {
 public:
  BindingLines(const Module& module, const SourceManager& sources) : sources_(sources) {
    for (const ModuleEntry& entry : module.functions()) {
      if (const auto* function = As<Function>(entry.func)) VisitExpr(function);
    }
  }

  std::string LineOf(const Var& var) const {
    const Span span = spans_.Lookup(&var);
    const std::vector<SourceSpan> places = PartsOf(Location(span));
    std::string_view line = span.known() ? sources_.Locate(places.front().begin).line_text : std::string_view();
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    constexpr size_t kMost = 100;
    if (line.empty()) return std::string(var.name());
    const auto is_inside_char = [&](size_t i) { return (static_cast<unsigned char>(line[i]) & 0xc0) == 0x80; };
    size_t length = std::min(kMost, line.size());
    while (length < line.size() && is_inside_char(length)) --length;
    std::string text(line.substr(0, length));
    if (places.size() > 1) text += fmt::format(" and {} before it", places.size() - 1);
    return text;
  }

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    Add(*binding, binding->value);
    ExprVisitor::VisitVarBinding(binding);
  }
  void VisitMatchCast(const MatchCast* binding) override {
    Add(*binding, binding->value);
    ExprVisitor::VisitMatchCast(binding);
  }

 private:
  void Add(const Binding& binding, const Expr* value) {
    spans_[binding.var] = value->span().known() ? value->span() : binding.span();
  }

  const SourceManager& sources_;
  LookupMap<const Var*, Span> spans_;
};

RunReporter::NodeNamer NodeNamerFor(const Module& module, const SourceManager& sources) {
  const auto lines = std::make_shared<const BindingLines>(module, sources);
  return [lines](const Var& var) { return lines->LineOf(var); };
}

class ProgramRun {
 public:
  ProgramRun(CompilerInstance& compiler, const ProgramOptions& options, StepProgress& progress)
      : compiler_(compiler),
        options_(options),
        progress_(progress),
        library_({.cache_dir = options.cache_dir,
                  .cpu = options.loop_cpu,
                  .threads = static_cast<int>(options.loop_threads)}),
        stdout_(STDOUT_FILENO) {}

  // Runs the program after the passes of the setup.
  Status Execute(PipelineSetup& setup) {
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> text, ReadFile(options_.driver.input));
    Program program(compiler_, setup, options_, library_);
    progress_.SetStep("reading and passes");
    IROPT_RETURN_IF_ERROR(program.Load(text));
    if (options_.emit_llvm) return EmitLlvm(program);
    Result<Outcome> called = CallFirst(program);
    Status same = checker_ ? checker_->Report(compiler_) : Status();
    if (!called.ok()) return called.TakeError();
    const Outcome& outcome = *called;
    IROPT_RETURN_IF_ERROR(compiler_.weights().Check());
    if (options_.check_races == RaceWatch::kSampled) return {};
    if (recorder_) IROPT_RETURN_IF_ERROR(Write(*options_.save_values, recorder_->values()));
    IROPT_RETURN_IF_ERROR(Deliver(outcome, program));
    if (options_.repeat == 0 || !same.ok()) return same;
    std::deque<ProgramTimer> timers;
    timers.emplace_back(program, options_, NodeNamerOf(program));
    IROPT_RETURN_IF_ERROR(Measure(timers));
    if (options_.time) compiler_.err().Append(timers.front().fastest_times());
    const ProgramTimes times = TimesOf({}, program, timers.front(), outcome);
    return ShowTimes({&times, 1});
  }

  // Measures the programs after the passes of each setup, by turns, and compares the results of the later ones with
  // those of the first one.
  Status ExecuteAll(std::span<const std::unique_ptr<PipelineSetup>> setups) {
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> text, ReadFile(options_.driver.input));
    std::deque<Program> programs;
    std::deque<ProgramTimer> timers;
    std::vector<Outcome> outcomes;
    for (const std::unique_ptr<PipelineSetup>& setup : setups) {
      Program& program = programs.emplace_back(compiler_, *setup, options_, library_);
      IROPT_RETURN_IF_ERROR(program.Load(text));
      IROPT_ASSIGN_OR_RETURN(Outcome outcome, CallFirst(program));
      outcomes.push_back(std::move(outcome));
      timers.emplace_back(program, options_, nullptr);
    }
    IROPT_RETURN_IF_ERROR(compiler_.weights().Check());
    IROPT_RETURN_IF_ERROR(Measure(timers));
    std::vector<ProgramTimes> times;
    for (size_t i = 0; i < timers.size(); ++i)
      times.push_back(TimesOf(options_.compare_pipelines[i], programs[i], timers[i], outcomes[i]));
    IROPT_RETURN_IF_ERROR(ShowTimes(times));
    return CompareOutcomes(outcomes, programs.front().ComparisonHint());
  }

 private:
  Status EmitLlvm(const Program& program) {
    const Module& module = program.module();
    const Entry& entry = program.entry();
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<codegen::LoopCompiler> loops, library_.Get());
    for (const ModuleEntry& function : module.functions()) {
      if (!Is<PrimFunc>(function.func) || (entry.prim() && function.var != &entry.var())) continue;
      IROPT_ASSIGN_OR_RETURN(const std::string text, loops->EmitLlvm(module, *function.var, /*optimized=*/true));
      stdout_.Append(text);
    }
    return stdout_.Flush();
  }

  // The first call, with all that the options ask for: output of the program, traces, times by callee.
  Result<Outcome> CallFirst(Program& program) {
    const bool is_compared = options_.check || !options_.compare_pipelines.empty();
    uint64_t work = 0;
    EvalLimits limits{.max_bytes = PhysicalMemory()};
    if (is_compared) limits.work = &work;
    RunReporter reporter(options_.trace ? &compiler_.err() : nullptr, NodeNamerOf(program));
    RunMeter meter(work);
    // A missing loop compiler is reported before inputs are made.
    IROPT_ASSIGN_OR_RETURN(const std::unique_ptr<PrimFuncExecutor> executor,
                           program.MakeExecutor(limits, is_compared ? &meter : nullptr,
                                                [&](std::string_view name, size_t compiled, double seconds) {
                                                  reporter.OnCompile(name, compiled, seconds);
                                                }));
    progress_.SetStep("making the inputs");
    IROPT_RETURN_IF_ERROR(program.ReadInputs());
    if (options_.save_inputs) IROPT_RETURN_IF_ERROR(Write(*options_.save_inputs, program.InputsForFile()));
    IROPT_RETURN_IF_ERROR(ObserveValues(program));
    RunOptions run{.limits = limits, .seed = options_.seed, .prim_funcs = executor.get()};
    run.check_races = options_.check_races;
    run.print = [this](std::string_view line) { stdout_.Append(fmt::format("{}\n", line)); };
    ObserverList observers;
    const bool shows_times = options_.time && options_.repeat == 0;
    if (options_.trace || shows_times) observers.Add(reporter);
    if (is_compared) observers.Add(meter);
    if (recorder_) observers.Add(*recorder_);
    if (checker_) observers.Add(*checker_);
    if (!observers.empty()) run.observer = &observers;
    IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> inputs, program.CopyInputs(executor->tracking()));
    const std::string_view compiling = options_.loops == LoopMode::Compile ? "compiling and " : "";
    progress_.SetStep(fmt::format("{}running '{}'", compiling, program.entry().name()));
    const Stopwatch watch;
    Result<HostValue> result = program.Call(std::move(inputs), compiler_.diagnostics(), run);
    if (shows_times) compiler_.err().Append(reporter.RenderTimes(watch.Read().wall_seconds));
    static_cast<void>(compiler_.err().Flush());
    IROPT_RETURN_IF_ERROR(stdout_.Flush());
    if (!result.ok()) return result.TakeError();
    meter.Add(*result);
    return Outcome{*std::move(result), meter.precision(), executor->compile_seconds()};
  }

  RunReporter::NodeNamer NodeNamerOf(const Program& program) const {
    return options_.times_by_node ? NodeNamerFor(program.module(), compiler_.sources()) : nullptr;
  }

  Status ObserveValues(const Program& program) {
    const Entry& entry = program.entry();
    if (!options_.save_values && !options_.check_values) return {};
    if (!entry.relax()) {
      return Error{ErrorCode::Usage, fmt::format("flag '-{}' needs a Relax function: '{}' is a PrimFunc",
                                                 options_.save_values ? "save-values" : "check-values", entry.name())};
    }
    const BindingNames names(program.module(), *entry.relax(), program.value_names());
    if (options_.save_values) recorder_.emplace(names);
    if (options_.check_values) {
      IROPT_ASSIGN_OR_RETURN(const std::vector<NamedTensor> expected, ReadTensors(*options_.check_values));
      checker_.emplace(names, expected, options_);
    }
    return {};
  }

  Status Write(const std::string& path, const std::vector<NamedTensor>& tensors) {
    IROPT_RETURN_IF_ERROR(compiler_.weights().CheckOutputPath(path));
    return WriteTensors(path, tensors);
  }

  // The programs take turns, so that what else the machine does concerns all of them.
  Status Measure(std::deque<ProgramTimer>& timers) const {
    for (ProgramTimer& timer : timers) IROPT_RETURN_IF_ERROR(timer.Prepare());
    const int64_t rounds = options_.warmup + options_.repeat;
    for (int64_t round = 0; round < rounds; ++round) {
      progress_.SetStep("call", static_cast<size_t>(round), static_cast<size_t>(rounds));
      for (ProgramTimer& timer : timers) IROPT_RETURN_IF_ERROR(timer.RunRound(round >= options_.warmup));
    }
    return {};
  }

  static ProgramTimes TimesOf(std::string pipeline, const Program& program, const ProgramTimer& timer,
                              const Outcome& first) {
    return {.pipeline = std::move(pipeline),
            .steps = program.times(),
            .compile_seconds = first.compile_seconds + timer.compile_seconds(),
            .calls = timer.summary(),
            .throughput = timer.throughput()};
  }

  Status ShowTimes(std::span<const ProgramTimes> times) {
    const bool is_json = options_.times_form == ShownForm::Json;
    compiler_.err().Append(is_json ? RenderProgramTimesJson(times, options_) : RenderProgramTimes(times, options_));
    return compiler_.err().Flush();
  }

  // Rounding errors of both count.
  Status CompareOutcomes(std::span<const Outcome> outcomes, const std::string& hint) {
    const Outcome& first = outcomes.front();
    const std::vector<NamedTensor> expected = FlattenOutputs(first.value);
    const std::string source = fmt::format("pipeline '{}'", options_.compare_pipelines.front());
    for (const Outcome& outcome : outcomes.subspan(1)) {
      const RunPrecision precision{std::max(first.precision.accumulation, outcome.precision.accumulation),
                                   LessPrecise(first.precision.least_precise, outcome.precision.least_precise)};
      IROPT_RETURN_IF_ERROR(CompareOutputs(outcome.value, FlattenOutputs(outcome.value), expected, source, precision,
                                           hint, options_, compiler_));
    }
    return {};
  }

  Status Deliver(const Outcome& outcome, const Program& program) {
    const std::vector<NamedTensor> outputs = NameOutputs(FlattenOutputs(outcome.value), program.entry().function());
    if (options_.output) IROPT_RETURN_IF_ERROR(Write(*options_.output, outputs));
    if (options_.print) {
      stdout_.Append(RenderOutputs(outputs));
      IROPT_RETURN_IF_ERROR(stdout_.Flush());
    }
    if (!options_.check) return {};
    IROPT_ASSIGN_OR_RETURN(const std::vector<NamedTensor> expected, ReadTensors(*options_.check));
    return CompareOutputs(outcome.value, outputs, expected, *options_.check, outcome.precision,
                          program.ComparisonHint(), options_, compiler_);
  }

  CompilerInstance& compiler_;
  const ProgramOptions& options_;
  StepProgress& progress_;
  LoopLibrary library_;
  OutputStream stdout_;
  std::optional<ValueRecorder> recorder_;  // for -save-values
  std::optional<ValueChecker> checker_;    // for -check-values
};

// No output replaces another one or a file that the run reads. `setup` is null before there is a pipeline.
Status CheckFiles(const ProgramOptions& options, const PipelineSetup* setup) {
  OutputFiles files;
  files.AddRead("the input", options.driver.input);
  if (setup != nullptr) setup->settings().AddReadFiles(files);
  for (const std::string& path : options.inputs) files.AddRead("-inputs", path);
  if (options.check) files.AddRead("-check", *options.check);
  if (options.check_values) files.AddRead("-check-values", *options.check_values);
  const std::pair<std::string_view, const std::optional<std::string>&> outputs[] = {
      {"-output", options.output}, {"-save-inputs", options.save_inputs}, {"-save-values", options.save_values}};
  for (const auto& [flag, path] : outputs) {
    if (path) IROPT_RETURN_IF_ERROR(files.Claim(flag, *path));
  }
  return {};
}

DiagId KindOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::Usage: return "usage";
    case ErrorCode::PassFailed: return "pass-failed";
    case ErrorCode::Rejected: return "ill-formed-result";
    default: return "no-value";
  }
}

}  // namespace

int RunProgram(const ProgramOptions& options) {
  CompilerInstance compiler(options.driver.compiler);
  if (const Status files = CheckFiles(options, nullptr); !files.ok()) return compiler.Report(files.error(), "usage");
  std::deque<DriverOptions> drivers;  // that the setups refer to
  std::vector<std::unique_ptr<PipelineSetup>> setups;
  const auto add = [&](const DriverOptions& driver) {
    setups.push_back(std::make_unique<PipelineSetup>(compiler, driver));
    return setups.back()->Run();
  };
  for (const std::string& pipeline : options.compare_pipelines) {
    DriverOptions& driver = drivers.emplace_back(options.driver);
    if (!pipeline.empty()) driver.pipeline.passes = {pipeline};
    if (pipeline.empty()) driver.pipeline.opt_level.reset();  // which would have a pipeline of its own
    if (const Status ready = add(driver); !ready.ok()) return compiler.Report(ready.error(), "usage");
  }
  StepProgress progress("ir-run", options.progress);
  if (setups.empty()) {
    if (const Status tuned = TuneProgram(compiler, options, progress); !tuned.ok())
      return compiler.Report(tuned.error(), KindOf(tuned.error().code));
    const DriverOptions& driver = drivers.emplace_back(OptionsWithDatabase(options, compiler.registry()));
    if (const Status ready = add(driver); !ready.ok()) return compiler.Report(ready.error(), "usage");
  }
  for (const std::unique_ptr<PipelineSetup>& setup : setups) {
    if (const Status files = CheckFiles(options, setup.get()); !files.ok())
      return compiler.Report(files.error(), "usage");
  }
  ProgramRun run(compiler, options, progress);
  const Status done = setups.size() == 1 ? run.Execute(*setups.front()) : run.ExecuteAll(setups);
  progress.Stop();
  RunInstruments& instruments = setups.front()->run();
  if (!done.ok()) return instruments.Finish(compiler.Report(done.error(), KindOf(done.error().code)));
  const int code = instruments.Finish(compiler.diagnostics().has_errors() ? ExitCode(ErrorCode::PassFailed) : 0);
  // Tables that could not be written are missing.
  const Status told = compiler.err().Flush();
  return code == 0 && !told.ok() ? ExitCode(told.error().code) : code;
}

}  // namespace iropt
