// A module after passes, with the function to run and its inputs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "driver/pipeline/pipeline_setup.h"
#include "iropt/data/tensors.h"
#include "iropt/driver/run_program.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/eval/relax/wide_arithmetic.h"
#include "iropt/execution/call_entry.h"
#include "iropt/execution/entry.h"
#include "iropt/execution/loop_executor.h"

namespace iropt {

class Program {
 public:
  // All must outlive it.
  Program(CompilerInstance& compiler, PipelineSetup& setup, const ProgramOptions& options, LoopLibrary& library)
      : compiler_(compiler), setup_(setup), options_(options), library_(library) {}

  // Times of the steps.
  struct Times {
    double read_seconds = 0;    // reading and checking the module
    double passes_seconds = 0;  // with the check of their result
    double inputs_seconds = 0;
  };

  // Reads the module from the text of the input, runs the passes, and finds the entry. Errors are reported.
  Status Load(const std::shared_ptr<const FileBuffer>& text);
  // Reads and generates the inputs. After Load.
  Status ReadInputs();

  const Module& module() const { return *module_; }
  const Entry& entry() const { return *entry_; }
  const Times& times() const { return times_; }
  // Those of the model that was read.
  const ValueNames& value_names() const { return value_names_; }
  // Why results may differ from those of another run, or nothing.
  std::string ComparisonHint() const;

  // Interpreted or compiled, as the options say. Fails if the loop compiler is missing. With a meter, the executor
  // counts the work of `limits`.
  // `on_compile` as in CompilingExecutor.
  Result<std::unique_ptr<PrimFuncExecutor>> MakeExecutor(const EvalLimits& limits, RunMeter* meter = nullptr,
                                                         CompileCallback on_compile = nullptr) const;
  // The inputs, named as the parameters. After ReadInputs.
  const std::vector<NamedTensor>& InputsForFile() const { return inputs_for_file_; }
  // New memory for what a PrimFunc writes; other inputs are shared.
  Result<std::vector<HostValue>> CopyInputs(Storage::Tracking tracking) const;
  // Calls the entry on such inputs. Thread-safe if the executors are different ones.
  Result<HostValue> Call(std::vector<HostValue> inputs, DiagnosticEngine& diagnostics, RunOptions run) const {
    run.mode = setup_.settings().network_mode();
    WideArithmetic wide;
    if (RoundsOnce(*module_)) run.operators = &wide;
    return CallEntry(*module_, *entry_, std::move(inputs), diagnostics, run);
  }

 private:
  Result<Module> ReadModule(const std::shared_ptr<const FileBuffer>& text);
  Result<Module> RunPasses(Module module, const ModuleSource& source);
  void FindOutputs(const Module& module);

  CompilerInstance& compiler_;
  PipelineSetup& setup_;
  const ProgramOptions& options_;
  LoopLibrary& library_;
  std::optional<Module> module_;
  std::optional<Entry> entry_;
  std::vector<HostValue> inputs_;
  std::vector<NamedTensor> inputs_for_file_;  // if they are to be saved
  ValueNames value_names_;
  Times times_;
  bool has_modal_operators_ = false;  // before the passes
  std::set<std::string> outputs_;     // parameters of a PrimFunc that it writes to before the passes
};

}  // namespace iropt
