// One function to be tuned, and its execution with candidates for its schedule.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "iropt/codegen/loop_compiler.h"
#include "iropt/data/tensors.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/run_program.h"
#include "iropt/execution/entry.h"
#include "iropt/ir/module.h"
#include "iropt/pass/context.h"
#include "iropt/schedule/database.h"
#include "iropt/schedule/tuning.h"

namespace iropt {

struct TuningTask {
  const GlobalVar* var = nullptr;  // the PrimFunc
  // The PrimFunc with a function that calls it as the module does, with its constants, under the name of `entry`; or
  // only the PrimFunc if nothing calls it.
  Module piece;
  const GlobalVar* entry = nullptr;
  schedule::Workload workload;  // as a database has it
  double work = 0;              // of all calls
};

// The functions of the module that can be tuned, those with the most work first: PrimFuncs with blocks, without
// schedules, with shapes that are numbers. Of several that are equal only the first one. O(nodes).
std::vector<TuningTask> FindTuningTasks(const Module& module);

// Runs the function of a task on random inputs, which are the same for all candidates.
class TaskRunner {
 public:
  // All must outlive it.
  TaskRunner(const TuningTask& task, const PassContext& context, CompilerInstance& compiler,
             std::shared_ptr<codegen::LoopCompiler> loops, const ProgramOptions& options);

  // Runs the function as it is; its results are those that candidates must have. Gives the least time of a call.
  Result<double> RunUnscheduled();
  // Runs the function with the body of another PrimFunc and gives the least time of a call. Fails if it cannot be
  // compiled or run, or if its results differ.
  Result<double> RunScheduled(const PrimFunc& scheduled, const FuncStorageRef& storage);
  // Returns the message of an error, also of one that was reported.
  std::string Explain(const Error& error) const;

 private:
  struct Measured {
    std::vector<NamedTensor> outputs;
    double seconds = 0;
  };

  Result<Measured> Run(const Module& module);
  Result<Module> Prepare(Module module);
  bool IsSame(const std::vector<NamedTensor>& outputs) const;

  const TuningTask& task_;
  // Errors of a candidate, which are not errors of the run.
  DiagnosticBuffer messages_;
  DiagnosticEngine diagnostics_;
  PassContext context_;
  CompilerInstance& compiler_;
  std::shared_ptr<codegen::LoopCompiler> loops_;
  ProgramOptions options_;
  std::vector<NamedTensor> expected_;
};

}  // namespace iropt
