// Options of the semantic check, which runs functions before and after passes and compares their results.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "iropt/execution/options.h"
#include "iropt/support/result.h"

namespace iropt {

// The inputs on which functions are run: floats of usual size; zeros of both signs, negative and large numbers;
// infinities and NaNs. Without these, results that overflow are not compared either.
struct InputKinds {
  bool ordinary = true;
  bool special = true;
  bool non_finite = true;

  // Of the words ordinary, special and nonfinite. Fails on other words, and on an empty list.
  static Result<InputKinds> Of(const std::vector<std::string>& words);
  std::vector<std::string> Words() const;
};

// Proofs instead of runs. Functions that are not proved are run.
struct ProofOptions {
  bool is_wanted = false;
  bool reals = true;                  // passes that say that they change results may compute as real numbers do
  uint64_t solver_limit = 2'000'000;  // for one question to Z3, in its units; 0: it is not asked
};

// Options of the runs of functions before and after passes.
struct SemanticCheckOptions {
  bool each = false;                // around every pass, not only around all passes
  int64_t budget = 30'000'000'000;  // operations of the runs of one function in one form
  int64_t seed = 0;                 // of inputs and of random operators
  LoopMode loops = LoopMode::Auto;
  InputKinds inputs = {};
  ToleranceOptions tolerance = {};
  ProofOptions proofs = {};
  bool is_required = false;            // a function that is not compared is an error
  std::function<void()> on_work = {};  // as in EvalLimits; may be empty
};

}  // namespace iropt
