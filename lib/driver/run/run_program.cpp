#include "iropt/driver/run_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "arguments.h"
#include "call_entry.h"
#include "compiled_loops.h"
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
      : compiler_(compiler), setup_(setup), options_(options), stdout_(STDOUT_FILENO) {}

  Status Execute() {
    IROPT_ASSIGN_OR_RETURN(const Module module, ReadModule());
    compiler_.WarnOfUnusedWeights();
    IROPT_ASSIGN_OR_RETURN(const Entry entry, Entry::Find(module, options_.entry, compiler_));
    if (options_.emit_llvm) return EmitLlvm(module, entry);
    const EvalLimits limits{.max_bytes = PhysicalMemory()};
    IROPT_ASSIGN_OR_RETURN(const std::unique_ptr<PrimFuncExecutor> executor, MakeExecutor(module, limits));
    ArgumentReader reader(entry, options_, compiler_);
    IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> values, reader.Read(limits, executor->tracking()));
    IROPT_ASSIGN_OR_RETURN(const HostValue result, Call(module, entry, std::move(values), limits, *executor));
    IROPT_RETURN_IF_ERROR(compiler_.CheckWeights());
    return Deliver(FlattenOutputs(result));
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

  // The loop compiler is a shared object that is loaded only if it is needed.
  Result<std::shared_ptr<codegen::LoopCompiler>> LoadLoopCompiler() const {
    return codegen::LoopCompiler::Load({.cache_dir = options_.cache_dir});
  }

  Result<std::unique_ptr<PrimFuncExecutor>> MakeExecutor(const Module& module, const EvalLimits& limits) const {
    if (options_.loops == LoopMode::Interpret)
      return std::unique_ptr<PrimFuncExecutor>(std::make_unique<InterpretingExecutor>(module, limits));
    IROPT_ASSIGN_OR_RETURN(std::shared_ptr<codegen::LoopCompiler> loops, LoadLoopCompiler());
    return std::unique_ptr<PrimFuncExecutor>(std::make_unique<CompilingExecutor>(module, std::move(loops), limits));
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
    RunReporter reporter(options_.trace ? &compiler_.err() : nullptr);
    RunOptions run{.limits = limits, .seed = options_.seed, .prim_funcs = &executor};
    run.print = [this](std::string_view line) { stdout_.Append(fmt::format("{}\n", line)); };
    if (options_.trace || options_.time) run.observer = &reporter;
    const Stopwatch watch;
    Result<HostValue> result = CallEntry(module, entry, std::move(values), compiler_.diagnostics(), run);
    if (options_.time) compiler_.err().Append(reporter.RenderTimes(watch.Read().wall_seconds));
    static_cast<void>(compiler_.err().Flush());
    IROPT_RETURN_IF_ERROR(stdout_.Flush());
    return result;
  }

  Status Deliver(const std::vector<NamedTensor>& outputs) {
    if (options_.output) IROPT_RETURN_IF_ERROR(compiler_.CheckOutputPath(*options_.output));
    if (options_.output) IROPT_RETURN_IF_ERROR(WriteTensors(*options_.output, ForFile(outputs)));
    if (options_.print) {
      stdout_.Append(RenderOutputs(outputs));
      IROPT_RETURN_IF_ERROR(stdout_.Flush());
    }
    return options_.check ? CheckOutputs(outputs, options_, compiler_) : Status();
  }

  CompilerInstance& compiler_;
  PipelineSetup& setup_;
  const ProgramOptions& options_;
  OutputStream stdout_;
};

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
  if (const Status ready = setup.Run(); !ready.ok()) return compiler.Report(ready.error(), "usage");
  const Status done = ProgramRun(compiler, setup, options).Execute();
  if (!done.ok()) return setup.observers().Finish(compiler.Report(done.error(), KindOf(done.error().code)));
  return setup.observers().Finish(compiler.diagnostics().has_errors() ? ExitCode(ErrorCode::PassFailed) : 0);
}

}  // namespace iropt
