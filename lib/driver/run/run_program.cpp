#include "iropt/driver/run_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "arguments.h"
#include "binding_values.h"
#include "call_entry.h"
#include "compiled_loops.h"
#include "driver/observe/operator_counts.h"
#include "driver/observe/output_files.h"
#include "driver/pipeline_setup.h"
#include "driver/verify_result.h"
#include "entry.h"
#include "iropt/codegen/loop_compiler.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/support/crash.h"
#include "observers.h"
#include "outputs.h"

namespace iropt {

namespace {

class ProgramRun {
 public:
  ProgramRun(CompilerInstance& compiler, PipelineSetup& setup, const ProgramOptions& options)
      : compiler_(compiler),
        setup_(setup),
        options_(options),
        stdout_(STDOUT_FILENO),
        reporter_(options.trace ? &compiler.err() : nullptr) {}

  Status Execute() {
    IROPT_ASSIGN_OR_RETURN(const Module module, ReadModule());
    compiler_.WarnOfUnusedWeights();
    IROPT_ASSIGN_OR_RETURN(const Entry entry, Entry::Find(module, options_.entry, compiler_));
    if (options_.emit_llvm) return EmitLlvm(module, entry);
    const EvalLimits limits{.max_bytes = PhysicalMemory()};
    IROPT_ASSIGN_OR_RETURN(const std::unique_ptr<PrimFuncExecutor> executor, MakeExecutor(module, limits));
    ArgumentReader reader(entry, options_, compiler_);
    IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> values, reader.Read(limits, executor->tracking()));
    if (options_.save_inputs) IROPT_RETURN_IF_ERROR(Write(*options_.save_inputs, reader.ForFile(values)));
    IROPT_RETURN_IF_ERROR(ObserveValues(module, entry));
    const Result<HostValue> result = Call(module, entry, std::move(values), limits, *executor);
    Status same = checker_ ? checker_->Report(compiler_) : Status();
    if (!result.ok()) return Error(result.error());
    IROPT_RETURN_IF_ERROR(compiler_.CheckWeights());
    if (recorder_) IROPT_RETURN_IF_ERROR(Write(*options_.save_values, ForFile(recorder_->values())));
    IROPT_RETURN_IF_ERROR(Deliver(FlattenOutputs(*result)));
    return same;
  }

 private:
  Result<Module> ReadModule() {
    const DriverOptions& driver = options_.driver;
    const CrashNote note("working on", driver.input);
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> text, ReadFile(driver.input));
    const ModuleSource source = compiler_.SourceAt(driver.input, text);
    compiler_.set_input(source.name, {});
    IROPT_ASSIGN_OR_RETURN(Module module, compiler_.Parse(source));
    IROPT_RETURN_IF_ERROR(compiler_.Verify(module));
    has_training_operators_ = HasTrainingOperators(module);
    if (options_.inference) IROPT_RETURN_IF_ERROR(SimplifyForInference(module));
    if (!setup_.pass()) return module;
    With<PassContext> scope(setup_.context());
    if (!scope.status().ok()) return Error(scope.status().error());
    setup_.observers().BeforePasses(module);
    IROPT_ASSIGN_OR_RETURN(PassResult result, (*setup_.pass())(std::move(module), setup_.context()));
    setup_.observers().AfterPasses(result.module);
    IROPT_RETURN_IF_ERROR(scope.Exit());
    if (!compiler_.options().no_verify) {
      ResultVerifier verifier(compiler_);
      IROPT_RETURN_IF_ERROR(verifier.CheckWellFormed(source, result.module, *setup_.pass(), setup_.CheckingContext()));
    }
    return std::move(result.module);
  }

  Status SimplifyForInference(Module& module) {
    IROPT_ASSIGN_OR_RETURN(const Pass pass, compiler_.MakePass("SimplifyInference"));
    PassContext context = compiler_.MakeContext();
    IROPT_ASSIGN_OR_RETURN(PassResult result, pass(std::move(module), context));
    module = std::move(result.module);
    return {};
  }

  // What may explain that results differ.
  std::string_view Hint() const {
    if (!has_training_operators_ || options_.inference) return "";
    return "R.nn.batch_norm and R.nn.dropout compute training or inference by the configuration option relax.mode; with "
           "-inference, all of them compute inference";
  }

  // The loop compiler is a shared object that is loaded only if it is needed.
  Result<std::shared_ptr<codegen::LoopCompiler>> LoadLoopCompiler() const {
    return codegen::LoopCompiler::Load({.cache_dir = options_.cache_dir});
  }

  Result<std::unique_ptr<PrimFuncExecutor>> MakeExecutor(const Module& module, const EvalLimits& limits) {
    if (options_.loops == LoopMode::Interpret)
      return std::unique_ptr<PrimFuncExecutor>(std::make_unique<InterpretingExecutor>(module, limits));
    IROPT_ASSIGN_OR_RETURN(std::shared_ptr<codegen::LoopCompiler> loops, LoadLoopCompiler());
    auto executor = std::make_unique<CompilingExecutor>(module, std::move(loops), limits);
    executor->set_on_compile([this](std::string_view name, double seconds) { reporter_.OnCompile(name, seconds); });
    return std::unique_ptr<PrimFuncExecutor>(std::move(executor));
  }

  Status EmitLlvm(const Module& module, const Entry& entry) {
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<codegen::LoopCompiler> loops, LoadLoopCompiler());
    for (const ModuleEntry& function : module.functions()) {
      if (!Is<PrimFunc>(function.func) || (entry.prim() && function.var != &entry.var())) continue;
      IROPT_ASSIGN_OR_RETURN(const std::string text, loops->EmitLlvm(module, *function.var, /*optimized=*/true));
      stdout_.Append(text);
    }
    return stdout_.Flush();
  }

  Result<HostValue> Call(const Module& module, const Entry& entry, std::vector<HostValue> values,
                         const EvalLimits& limits, PrimFuncExecutor& executor) {
    RunOptions run{.limits = limits, .seed = options_.seed, .prim_funcs = &executor};
    run.print = [this](std::string_view line) { stdout_.Append(fmt::format("{}\n", line)); };
    ObserverList observers;
    if (options_.trace || options_.time) observers.Add(reporter_);
    if (recorder_) observers.Add(*recorder_);
    if (checker_) observers.Add(*checker_);
    if (!observers.empty()) run.observer = &observers;
    const Stopwatch watch;
    Result<HostValue> result = CallEntry(module, entry, std::move(values), compiler_.diagnostics(), run);
    if (options_.time) compiler_.err().Append(reporter_.RenderTimes(watch.Read().wall_seconds));
    static_cast<void>(compiler_.err().Flush());
    IROPT_RETURN_IF_ERROR(stdout_.Flush());
    return result;
  }

  Status ObserveValues(const Module& module, const Entry& entry) {
    if (!options_.save_values && !options_.check_values) return {};
    if (!entry.relax()) {
      return Error{ErrorCode::Usage, fmt::format("flag '-{}' needs a Relax function: '{}' is a PrimFunc",
                                                 options_.save_values ? "save-values" : "check-values", entry.name())};
    }
    const BindingNames names(module, *entry.relax());
    if (options_.save_values) recorder_.emplace(names);
    if (options_.check_values) {
      IROPT_ASSIGN_OR_RETURN(const std::vector<NamedTensor> expected, ReadTensors(*options_.check_values));
      checker_.emplace(names, expected, options_);
    }
    return {};
  }

  Status Write(const std::string& path, const std::vector<NamedTensor>& tensors) {
    IROPT_RETURN_IF_ERROR(compiler_.CheckOutputPath(path));
    return WriteTensors(path, tensors);
  }

  Status Deliver(const std::vector<NamedTensor>& outputs) {
    if (options_.output) IROPT_RETURN_IF_ERROR(Write(*options_.output, ForFile(outputs)));
    if (options_.print) {
      stdout_.Append(RenderOutputs(outputs));
      IROPT_RETURN_IF_ERROR(stdout_.Flush());
    }
    return options_.check ? CheckOutputs(outputs, options_, Hint(), compiler_) : Status();
  }

  CompilerInstance& compiler_;
  PipelineSetup& setup_;
  const ProgramOptions& options_;
  OutputStream stdout_;
  std::optional<ValueRecorder> recorder_;  // for -save-values
  std::optional<ValueChecker> checker_;    // for -check-values
  RunReporter reporter_;
  bool has_training_operators_ = false;  // the module as it was read
};

// No output replaces another one or a file that the run reads.
Status CheckFiles(const ProgramOptions& options) {
  OutputFiles files;
  files.AddRead("the input", options.driver.input);
  for (const std::string& path : options.inputs) files.AddRead("-inputs", path);
  if (options.check) files.AddRead("-check", *options.check);
  if (options.driver.compiler.weights) files.AddRead("-weights", *options.driver.compiler.weights);
  if (options.driver.pipeline_file) files.AddRead("-pipeline", *options.driver.pipeline_file);
  if (options.check_values) files.AddRead("-check-values", *options.check_values);
  const std::pair<std::string_view, const std::optional<std::string>&> outputs[] = {
      {"-output", options.output}, {"-save-inputs", options.save_inputs}, {"-save-values", options.save_values}};
  for (const auto& [flag, path] : outputs) {
    if (path) IROPT_RETURN_IF_ERROR(files.Claim(flag, *path));
  }
  return {};
}

std::string_view KindOf(ErrorCode code) {
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
  PipelineSetup setup(compiler, options.driver);
  if (const Status files = CheckFiles(options); !files.ok()) return compiler.Report(files.error(), "usage");
  if (const Status ready = setup.Run(); !ready.ok()) return compiler.Report(ready.error(), "usage");
  const Status done = ProgramRun(compiler, setup, options).Execute();
  if (!done.ok()) return setup.observers().Finish(compiler.Report(done.error(), KindOf(done.error().code)));
  return setup.observers().Finish(compiler.diagnostics().has_errors() ? ExitCode(ErrorCode::PassFailed) : 0);
}

}  // namespace iropt
