#include "program.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "arguments.h"
#include "configs/relax.mode.h"
#include "driver/check/verify_result.h"
#include "iropt/execution/call_entry.h"
#include "iropt/execution/compiled_loops.h"
#include "iropt/observe/operator_counts.h"
#include "iropt/pass/timing.h"
#include "iropt/support/crash.h"
#include "scheduled_loops.h"

namespace iropt {

Status Program::Load(const std::shared_ptr<const FileBuffer>& text) {
  IROPT_ASSIGN_OR_RETURN(module_, ReadModule(text));
  compiler_.weights().WarnOfUnused();
  IROPT_ASSIGN_OR_RETURN(entry_, Entry::Find(*module_, options_.entry, compiler_.diagnostics()));
  for (size_t i = 0; entry_->prim() && i < entry_->inputs().size(); ++i) {
    if (outputs_.contains(entry_->inputs()[i].name)) entry_->AddOutput(i);
  }
  return {};
}

// Passes remove stores that change nothing, and code that never runs.
void Program::FindOutputs(const Module& module) {
  const ModuleEntry* found = Entry::Lookup(module, options_.entry);
  if (!found || !Is<PrimFunc>(found->func)) return;
  const Entry entry = Entry::Of(*found);
  for (const EntryInput& input : entry.inputs()) {
    if (input.is_written) outputs_.insert(input.name);
  }
}

Result<Module> Program::ReadModule(const std::shared_ptr<const FileBuffer>& text) {
  const DriverOptions& driver = options_.driver;
  const CrashNote note("working on", driver.input);
  const Stopwatch watch;
  ModuleSource source = compiler_.SourceAt(driver.input, text);
  IROPT_ASSIGN_OR_RETURN(source.format, compiler_.FormatOf(source.name, source.text));
  source.value_names = &value_names_;
  compiler_.set_input(source.name, {});
  IROPT_ASSIGN_OR_RETURN(Module module, compiler_.Parse(source));
  IROPT_RETURN_IF_ERROR(compiler_.Verify(module, /*allow_free_vars=*/false));
  has_modal_operators_ = HasTrainingOperators(module);
  times_.read_seconds = watch.Read().wall_seconds;
  FindOutputs(module);
  const Stopwatch passes;
  if (setup_.pass()) {
    IROPT_ASSIGN_OR_RETURN(module, RunPasses(std::move(module), source));
  }
  if (options_.loops == LoopMode::Compile) {
    IROPT_ASSIGN_OR_RETURN(module, LowerScheduledLoops(std::move(module), setup_.ContextForAnother(), compiler_));
  }
  times_.passes_seconds = passes.Read().wall_seconds;
  return module;
}

Result<Module> Program::RunPasses(Module module, const ModuleSource& source) {
  With<PassContext> scope(setup_.context());
  if (!scope.status().ok()) return Error(scope.status().error());
  setup_.run().BeforePasses(module);
  Result<PassResult> ran = (*setup_.pass())(std::move(module), setup_.context());
  setup_.run().EndPasses();
  IROPT_ASSIGN_OR_RETURN(PassResult result, std::move(ran));
  setup_.run().AfterPasses(result.module);
  setup_.run().EndInput();
  IROPT_RETURN_IF_ERROR(scope.Exit());
  if (compiler_.options().no_verify) return std::move(result.module);
  ResultVerifier verifier(compiler_);
  IROPT_RETURN_IF_ERROR(verifier.CheckWellFormed(source, result.module, *setup_.pass(), setup_.CheckingContext()));
  IROPT_RETURN_IF_ERROR(setup_.run().CheckResult(result.module));
  return std::move(result.module);
}

std::string Program::ComparisonHint() const {
  if (!has_modal_operators_) return {};
  return fmt::format("R.nn.batch_norm and R.nn.dropout compute what -mode={} says; both runs need the same -mode",
                     setup_.context().Config(config::relax::mode));
}

Status Program::ReadInputs() {
  const Stopwatch watch;
  const bool is_compiled = options_.loops == LoopMode::Compile;
  ArgumentReader reader(*entry_, options_, compiler_);
  IROPT_ASSIGN_OR_RETURN(inputs_, reader.Read({.max_bytes = PhysicalMemory()},
                                              is_compiled ? Storage::Tracking::kOff : Storage::Tracking::kOn));
  if (options_.save_inputs) inputs_for_file_ = reader.ForFile(inputs_);
  times_.inputs_seconds = watch.Read().wall_seconds;
  return {};
}

Result<std::unique_ptr<PrimFuncExecutor>> Program::MakeExecutor(const EvalLimits& limits, RunMeter* meter,
                                                                CompileCallback on_compile) const {
  if (options_.check_races) {
    return std::unique_ptr<PrimFuncExecutor>(
        std::make_unique<InterpretingExecutor>(*module_, limits, *options_.check_races));
  }
  std::shared_ptr<codegen::LoopCompiler> loops;
  if (options_.loops == LoopMode::Compile) {
    IROPT_ASSIGN_OR_RETURN(loops, library_.Get());
  }
  if (meter) {
    auto executor = std::make_unique<LoopExecutor>(*module_, options_.loops, library_, limits, *meter);
    if (loops) executor->Expect(CalledPrimFuncs(*module_, entry_->var()));
    executor->set_on_compile(std::move(on_compile));
    return std::unique_ptr<PrimFuncExecutor>(std::move(executor));
  }
  if (loops) {
    auto executor = std::make_unique<CompilingExecutor>(*module_, std::move(loops), limits);
    executor->Expect(CalledPrimFuncs(*module_, entry_->var()));
    executor->set_on_compile(std::move(on_compile));
    return std::unique_ptr<PrimFuncExecutor>(std::move(executor));
  }
  return std::unique_ptr<PrimFuncExecutor>(std::make_unique<InterpretingExecutor>(*module_, limits));
}

Result<std::vector<HostValue>> Program::CopyInputs(Storage::Tracking tracking) const {
  std::vector<HostValue> copies = inputs_;
  for (size_t i = 0; i < copies.size(); ++i) {
    const NDArray* tensor = copies[i].tensor();
    if (!tensor || !tensor->storage() || !entry_->inputs()[i].is_written) continue;
    const TensorSpec spec{tensor->dtype(), {tensor->shape().begin(), tensor->shape().end()}};
    IROPT_ASSIGN_OR_RETURN(copies[i], AllocateTensor(spec, tracking, {}));
  }
  return copies;
}

}  // namespace iropt
