// Runs functions through their interface, and records what they compute.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call_interface.h"
#include "input_maker.h"
#include "iropt/data/tensors.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/eval/taken_branches.h"
#include "iropt/eval/tir/loop_facts.h"
#include "iropt/execution/call_entry.h"
#include "iropt/execution/loop_executor.h"
#include "iropt/semantics/options.h"

namespace iropt {

// Outcome of a run of a function.
struct RunOutcome {
  std::optional<Error> failure = {};  // with a message; what follows is not known then
  std::vector<NamedTensor> outputs = {};
  std::string structure = {};  // of the result: "(a tensor, a shape)"; empty where callbacks take the results
  std::optional<size_t> overwritten_input = {};  // the first one that a Relax function has changed
  bool is_written = true;                        // all elements of the outputs are initialized
  bool is_random = false;                        // operators have drawn random numbers
  size_t num_draws = 0;                          // the operators among them whose values are used
  std::vector<std::string> lines = {};           // that the program has printed
  LoopFacts facts = {};                          // of the PrimFuncs
  bool runs_loops = false;                       // there were PrimFuncs
  uint64_t work = 0;
  RunPrecision precision = {};
};

// Settings of runs besides the inputs.
struct RunSettings {
  std::byte fresh{0x5a};              // the bytes of memory that has no value, for compiled PrimFuncs
  uint64_t max_work = UINT64_MAX;     // of the run
  TakenBranches* branches = nullptr;  // receives the ways that conditions go; may be null
  bool interprets = false;            // PrimFuncs, whatever the options say
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
  bool compiles() const { return loops_ == LoopMode::Compile; }
  void ResetWork() { work_ = 0; }
  // Runs that are not necessary may take some time in addition to the others: a part of it, at least a moment.
  bool HasTimeFor(uint64_t work) const { return extra_work_ + work <= kLeastExtraWork + total_work_ / kShareOfExtra; }
  void AddExtraWork(uint64_t work) { extra_work_ += work; }
  // Of the inputs of a run. Making an element costs as much as several operations.
  InputLimits input_limits() const { return {max_work_ / kWorkOfInput, PhysicalMemory() / kShareOfMemory}; }

  // Runs the function that the interface stands for in the module, on the inputs that it had at first.
  RunOutcome Run(const Module& module, const CallInterface& interface, const std::vector<HostValue>& inputs,
                 const RunSettings& settings = {});
  // From now on, these original inputs count as constants: passes bind them.
  void SetConstants(std::vector<size_t> inputs) { constants_ = std::move(inputs); }

 private:
  struct Callbacks;

  static constexpr uint64_t kWorkOfInput = 16;
  static constexpr size_t kShareOfMemory = 4;  // inputs of two runs, and the values in between
  static constexpr uint64_t kLeastExtraWork = uint64_t{1} << 28;
  static constexpr uint64_t kShareOfExtra = 8;

  Result<HostValue> Call(const Module& module, const CallInterface& interface, const std::vector<HostValue>& inputs,
                         DiagnosticEngine& diagnostics, RunMeter& meter, RunOutcome& outcome);
  Result<std::vector<HostValue>> Transformed(const Module& module, const CallInterface& interface,
                                             const std::vector<HostValue>& inputs, DiagnosticEngine& diagnostics,
                                             RunMeter& meter, RunOutcome& outcome);
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
  uint64_t total_work_ = 0;
  uint64_t extra_work_ = 0;
  RunSettings settings_ = {};
  Workspace workspace_;
  const ExternFunc* get_input_;
  const ExternFunc* set_output_;
};

}  // namespace iropt
