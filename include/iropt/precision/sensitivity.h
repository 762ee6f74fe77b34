// The part of the error of a function's outputs that each operator has if it computes in a format.
//
// The errors that a format makes in an operator are found by computing it in the format alone. A backward pass with a
// random vector v tells how they reach the outputs: the square of v^T J d, where J is the Jacobian of the outputs by
// the result of the operator and d its error, is an estimate of |J d|^2. Errors of different operators are taken to be
// independent, so their squares add up.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "iropt/precision/model_runs.h"
#include "iropt/precision/operators.h"

namespace iropt::precision {

// The squares of relative errors of the outputs.
struct OperatorShare {
  double alone = 0;     // of rounding its operands and results
  double own = 0;       // of rounding its results, if the operands are rounded anyway, and of its constants
  bool breaks = false;  // it gives NaN or an infinity in the format alone
  // The tensors of floats that it reads, constants excepted, and those that it makes.
  std::vector<size_t> inputs = {};
  std::vector<size_t> results = {};
};

struct Sensitivity {
  std::vector<OperatorShare> operators;  // by operator
  std::vector<double> tensors;           // by tensor: the square of the error of rounding it
  std::vector<size_t> producers;         // by tensor: its operator, or kNoOperator
  static constexpr size_t kNoOperator = SIZE_MAX;
  bool complete = true;  // false: the values of a run take more memory than the limit, and nothing is known

  // The square of the error if these operators compute in the format.
  double Predict(const std::vector<bool>& lowered) const;
  // The change of it if one more operator does. O(its tensors).
  double Increase(const std::vector<bool>& lowered, size_t op) const;

  // By tensor: the operators that read it.
  std::vector<std::vector<size_t>> readers;
};

struct SensitivityOptions {
  size_t num_probes = 4;        // backward passes, of all samples together
  size_t num_samples = 2;       // at most
  size_t max_bytes = SIZE_MAX;  // of the values of one run
};

// Measures the operators on some of the samples, those with the greatest errors. The runs are recorded already.
Result<Sensitivity> MeasureSensitivity(ModelRuns& runs, const std::vector<Operator>& operators,
                                       const NumberFormat& format, const SensitivityOptions& options);

}  // namespace iropt::precision
