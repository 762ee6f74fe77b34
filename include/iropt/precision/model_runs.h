// Runs of a function on several sets of inputs, and the errors of its outputs in other formats.
#pragma once

#include <functional>
#include <vector>

#include "iropt/eval/relax/interpreter.h"
#include "iropt/precision/recording.h"

namespace iropt::precision {

// A function and what it is run on. The members must outlive what uses it.
struct ModelInputs {
  const Module& module;
  const Function& function;
  const std::vector<std::vector<HostValue>>& samples;  // the arguments of each run
  DiagnosticEngine& diagnostics;
  RunOptions run = {};  // of all runs, without observer and operators
};

// The error of an output is the Euclidean norm of its difference, relative to that of the output. Infinite if an
// element is NaN or infinite that was not, or the other way round. The greatest one of the outputs that are floats; 0
// without any.
double RelativeError(const HostValue& got, const HostValue& expected);
// Returns whether a value has tensors of floats with elements.
bool HasFloats(const HostValue& value);

// Runs a function on all of its inputs, and keeps the outputs.
class ModelRuns {
 public:
  explicit ModelRuns(const ModelInputs& inputs) : inputs_(inputs) {}

  // The runs of the function as it is, which the recording observes. Must come first. `tape` computes the operators of
  // the run of a sample, unless it is null; `done` is called after the run.
  struct Watch {
    std::function<OperatorRunner*(size_t sample)> tape;
    std::function<void(size_t sample)> done;
  };
  Status Record(Recording& recording, const Watch& watch = {});
  // The greatest error of the outputs of all samples if `operators` computes the operators.
  Result<double> ErrorWith(OperatorRunner& operators);

  const ModelInputs& inputs() const { return inputs_; }
  const std::vector<HostValue>& outputs() const { return outputs_; }
  size_t num_runs() const { return num_runs_; }  // of one sample each

 private:
  const ModelInputs& inputs_;
  std::vector<HostValue> outputs_;
  size_t num_runs_ = 0;
};

}  // namespace iropt::precision
