// The choice of the operators that compute in another format, so that the error of the outputs stays within a
// tolerance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "iropt/precision/sensitivity.h"

namespace iropt::precision {

// The order in which operators get the format where not all can have it: first those that add the least error for each
// operator, for each byte of constants, or for each element that they read or write.
enum class Objective : uint8_t { kOperators, kSize, kSpeed };

struct ChoiceOptions {
  const NumberFormat* format = nullptr;
  double tolerance = 1e-2;  // of RelativeError, for all inputs
  Objective objective = Objective::kOperators;
  SensitivityOptions sensitivity = {};
  bool wants_shares = false;     // the errors of single operators are wanted also where all of them fit
  size_t max_confirmations = 8;  // runs of whole candidates on all inputs
};

// An operator with what was decided.
struct ChosenOperator {
  Operator op;
  bool lowered = false;
  double error = 0;  // relative error of the outputs if it alone has the format, as predicted; see has_shares
  // The tensors of floats that it makes, as they are without the choice; null if no run has reached it.
  const ValueRecord* record = nullptr;
};

struct Choice {
  std::vector<ChosenOperator> operators;
  double predicted = 0;  // relative error of the outputs, as its shares add up
  double measured = 0;   // by a run of the choice
  size_t num_runs = 0;   // of the function on one set of inputs, forward passes
  size_t num_backward = 0;
  bool measures_outputs = true;  // false: no output is a tensor of floats, so the error is not known
  bool has_shares = false;       // the errors of single operators are known
  bool complete = true;          // see Sensitivity

  LookupSet<const Call*> LoweredCalls() const;
  size_t NumLowered() const;
  size_t NumCandidates() const;  // operators, of which some stay
};

// Chooses among the operators. `recording` keeps what was seen of all values, and must outlive the result.
Result<Choice> ChooseOperators(const ModelInputs& inputs, std::vector<Operator> operators, const ChoiceOptions& options,
                               Recording& recording);

// All operators that may have the format; if there are samples, only those whose values do not overflow in them.
Result<Choice> AllOperators(const ModelInputs& inputs, std::vector<Operator> operators, const NumberFormat& format,
                            Recording& recording);

// The least set of operators whose format together makes a greater error than the tolerance: without one of them, the
// error of the others is within it. Empty if all operators together are within it.
Result<std::vector<size_t>> FindBreakingOperators(const ModelInputs& inputs, const std::vector<Operator>& operators,
                                                  const ChoiceOptions& options, Recording& recording, size_t& num_runs,
                                                  double& error);

}  // namespace iropt::precision
