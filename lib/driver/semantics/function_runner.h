// Runs functions through their interface, and records what they compute.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call_interface.h"
#include "driver/run/call_entry.h"
#include "driver/run/loop_executor.h"
#include "input_maker.h"
#include "iropt/data/tensors.h"
#include "iropt/driver/driver_options.h"
#include "iropt/eval/relax/interpreter.h"

namespace iropt {

// What a run of a function gives.
struct RunOutcome {
  std::optional<Error> failure = {};  // with a message; what follows is not known then
  std::vector<NamedTensor> outputs = {};
  bool is_written = true;  // all elements of the outputs are initialized
  bool is_random = false;  // operators have drawn random numbers
  size_t num_lines = 0;    // that the program has printed
  RunPrecision precision = {};
};

// The tensor in another floating-point format.
Tensor ConvertFloats(const Tensor& tensor, DataType dtype);

class FunctionRunner {
 public:
  // The budget limits the operations of all runs since ResetWork, where a step of an interpreted PrimFunc counts as
  // kWorkOfStep, and a statement of a compiled one as 1.
  FunctionRunner(const SemanticCheckOptions& options, NetworkMode mode);

  // Fails if PrimFuncs cannot be compiled.
  Status LoadLoopCompiler();
  void ResetWork() { work_ = 0; }
  // Of the inputs of a run. Making an element costs as much as several operations.
  InputLimits input_limits() const { return {max_work_ / kWorkOfInput, PhysicalMemory() / kShareOfMemory}; }
  Storage::Tracking tracking() const {
    return loops_ == LoopMode::Compile ? Storage::Tracking::kOff : Storage::Tracking::kOn;
  }

  // Runs the function that the interface stands for in the module, on the inputs that it had at first.
  RunOutcome Run(const Module& module, const CallInterface& interface, const std::vector<HostValue>& inputs);
  // From now on, these original inputs count as constants: passes bind them.
  void SetConstants(std::vector<size_t> inputs) { constants_ = std::move(inputs); }

 private:
  struct Callbacks;

  static constexpr uint64_t kWorkOfInput = 16;
  static constexpr size_t kShareOfMemory = 4;  // inputs of two runs, and the values in between

  Result<HostValue> Call(const Module& module, const CallInterface& interface, const std::vector<HostValue>& inputs,
                         DiagnosticEngine& diagnostics, RunMeter& meter, size_t& num_lines);
  Result<std::vector<HostValue>> Transformed(const Module& module, const CallInterface& interface,
                                             const std::vector<HostValue>& inputs, DiagnosticEngine& diagnostics,
                                             RunMeter& meter, size_t& num_lines);
  std::vector<const Var*> ConstantParams(const Entry& entry, const CallInterface& interface) const;
  HostValue Callback(const ExternFunc& function) const;

  uint64_t max_work_;
  uint64_t seed_;
  LoopMode loops_;
  std::function<void()> on_work_;
  NetworkMode mode_;
  LoopLibrary library_;
  std::vector<size_t> constants_ = {};
  uint64_t work_ = 0;
  Workspace workspace_;
  const ExternFunc* get_input_;
  const ExternFunc* set_output_;
};

}  // namespace iropt
