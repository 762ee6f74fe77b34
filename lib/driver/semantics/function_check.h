// The check of one public function: it is run before and after passes, on the same inputs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call_interface.h"
#include "compare_outcomes.h"
#include "function_runner.h"
#include "input_maker.h"
#include "iropt/driver/driver_options.h"

namespace iropt {

// What the passes between two modules may change.
struct CheckMode {
  bool is_narrower = false;       // floats are computed in float16
  bool changes_mode = false;      // batch_norm and dropout may become those of inference, or of training
  bool only_finite = false;       // inputs with infinities and NaNs are not compared
  bool restricts_inputs = false;  // the function need not run on all inputs on which it ran before

  void Add(const PassInfo& pass);
};

// What a comparison has found.
struct CheckResult {
  size_t num_runs = 0;                        // that were compared
  std::vector<OutputErrors> outputs = {};     // the greatest errors of all runs
  std::vector<std::string> differences = {};  // in the first run with any; the last line describes its inputs
  std::string not_compared = {};              // why there was none, or not all
};

class FunctionCheck {
 public:
  // Begins at a module that has the function.
  FunctionCheck(std::shared_ptr<const Module> first, const ModuleEntry& function, InputKinds kinds);

  const GlobalVar& var() const { return interface_.var(); }
  const CallInterface& interface() const { return interface_; }

  // Follows a pass; see CallInterface.
  InterfaceChange Follow(const PassInfo& pass, const Module& before, const Module& after) {
    return interface_.Follow(pass, before, after);
  }

  // Compares the function in `before`, where its interface is `old`, with that in `after`, to which the passes that
  // were followed lead. What it computes in `before` is known from the last comparison, unless passes have fixed inputs
  // since then.
  CheckResult Compare(const Module& before, const CallInterface& old, const Module& after, CheckMode mode,
                      FunctionRunner& runner, const SemanticCheckOptions& options);

 private:
  // A run that did not fail.
  struct Trial {
    InputRecipe recipe;
    RunOutcome outcome;
  };

  // Fills trials_ by running the function in a module; returns why there is none, or not all that there should be.
  std::string FindTrials(const Module& module, const CallInterface& interface, FunctionRunner& runner,
                         const SemanticCheckOptions& options);
  // Nothing if no inputs were found on which the function runs; the error is the first one.
  std::optional<Trial> FindTrial(size_t number, const Module& module, const CallInterface& interface,
                                 FunctionRunner& runner, uint64_t seed, Error& error);
  // Compares the outcome of another run with that of the trial. False if it cannot be compared with later ones.
  bool CompareTrial(const Trial& trial, const RunOutcome& after, CheckMode mode, const ToleranceOptions& tolerance,
                    CheckResult& result) const;

  bool Selects(InputValues values) const;

  InputKinds kinds_;
  std::shared_ptr<const Module> first_module_;  // keeps what first_ refers to
  Entry first_;
  CallInterface interface_;
  std::unique_ptr<InputMaker> maker_ = nullptr;  // of trials_; null before the first comparison
  std::vector<Trial> trials_ = {};
  std::string obstacle_ = {};
};

}  // namespace iropt
