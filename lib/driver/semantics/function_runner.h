// Runs functions through their interface, and records what they compute.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call_interface.h"
#include "iropt/codegen/loop_compiler.h"
#include "iropt/data/tensors.h"
#include "iropt/eval/relax/interpreter.h"

namespace iropt {

// What a run of a function gives.
struct RunOutcome {
  std::optional<Error> failure = {};  // with a message; what follows is not known then
  std::vector<NamedTensor> outputs = {};
  bool is_written = true;          // all elements of the outputs are initialized
  bool is_random = false;          // operators have drawn random numbers
  bool has_narrow_floats = false;  // variables have been bound to floats of less than 32 bits
  size_t num_lines = 0;            // that the program has printed
  double accumulation = 1;         // an upper bound for how many operations one after the other lead to an output
};

// The tensor in another floating-point format.
Tensor ConvertFloats(const Tensor& tensor, DataType dtype);

class FunctionRunner {
 public:
  // `max_work` limits the operations of all runs since ResetWork, where a step of a PrimFunc counts as kWorkOfStep.
  // PrimFuncs are compiled by `loops`, and their steps do not count then; null: they are interpreted.
  FunctionRunner(uint64_t max_work, uint64_t seed, std::shared_ptr<codegen::LoopCompiler> loops = nullptr);

  void ResetWork() { work_ = 0; }
  uint64_t max_work() const { return max_work_; }
  // The most elements of the inputs of a run: making one costs as much as several operations.
  uint64_t max_inputs() const { return max_work_ / kWorkOfInput; }
  Storage::Tracking tracking() const { return loops_ ? Storage::Tracking::kOff : Storage::Tracking::kOn; }

  // Runs the function that the interface stands for in the module, on the inputs that it had at first.
  RunOutcome Run(const Module& module, const CallInterface& interface, const std::vector<HostValue>& inputs);

 private:
  class Meter;
  class Executor;
  struct Callbacks;

  static constexpr uint64_t kWorkOfInput = 16;

  Result<HostValue> Call(const Module& module, const CallInterface& interface, const std::vector<HostValue>& inputs,
                         DiagnosticEngine& diagnostics, Meter& meter);
  Result<std::vector<HostValue>> Transformed(const Module& module, const CallInterface& interface,
                                             const std::vector<HostValue>& inputs, DiagnosticEngine& diagnostics,
                                             Meter& meter);
  HostValue Callback(const ExternFunc& function) const;

  uint64_t max_work_;
  uint64_t seed_;
  std::shared_ptr<codegen::LoopCompiler> loops_;
  uint64_t work_ = 0;
  Workspace workspace_;
  const ExternFunc* get_input_;
  const ExternFunc* set_output_;
};

}  // namespace iropt
