// Runs of a function on several sets of inputs, and the errors of its outputs in other formats.
#pragma once

#include <limits>
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

  // The runs of the function as it is, which the recording observes. Must come first. `operators` computes its
  // operators, unless it is null.
  Status Record(Recording& recording, OperatorRunner* operators = nullptr);
  // The output of one sample if `operators` computes the operators, and its error.
  Result<HostValue> Run(size_t sample, OperatorRunner& operators);
  Result<double> ErrorOf(size_t sample, OperatorRunner& operators);
  // The greatest error of all samples. Samples are run until one exceeds `limit`, those first that had the greatest
  // errors in the first call without a limit.
  Result<double> ErrorWith(OperatorRunner& operators, double limit = std::numeric_limits<double>::infinity());

  // The samples in the order in which ErrorWith runs them.
  const std::vector<size_t>& order() const { return order_; }
  const ModelInputs& inputs() const { return inputs_; }
  const std::vector<HostValue>& outputs() const { return outputs_; }
  size_t num_runs() const { return num_runs_; }  // of one sample each

 private:
  const ModelInputs& inputs_;
  std::vector<HostValue> outputs_;
  std::vector<size_t> order_;
  bool is_ordered_ = false;
  size_t num_runs_ = 0;
};

}  // namespace iropt::precision
