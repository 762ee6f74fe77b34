// The check of one public function: it is run before and after passes, on the same inputs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "call_interface.h"
#include "compare_outcomes.h"
#include "counted_rows.h"
#include "coverage.h"
#include "function_runner.h"
#include "input_maker.h"
#include "iropt/semantics/options.h"
#include "trial_plans.h"

namespace iropt {

// The beginning of CheckResult::not_compared for a function that runs on none of the inputs.
inline constexpr std::string_view kFailsOnAllInputs = "it fails on all inputs";

// Changes that the passes between two modules may make.
struct CheckMode {
  bool is_narrower = false;          // floats are computed in float16
  bool changes_rounding = false;     // quantized tensors may be computed with other roundings
  bool changes_mode = false;         // batch_norm and dropout may become those of inference, or of training
  bool only_finite = false;          // inputs with infinities and NaNs are not compared
  bool restricts_inputs = false;     // the function need not run on all inputs on which it ran before
  bool assumes_no_overflow = false;  // integers of loops that overflow may have other values
  // Some passes are of plugins or programs. Their extra runs must agree as the others do. Those of the project's own
  // passes may differ by what a change of the last bits of the inputs does: rare numbers also show how passes round.
  bool is_of_others = false;
  std::vector<CountedRows> counted_rows = {};  // outputs that may have only the rows that count

  void Add(const PassInfo& pass);
};

// Result of a comparison.
struct CheckResult {
  size_t num_runs = 0;                        // that were compared
  std::vector<OutputErrors> outputs = {};     // the greatest errors of all runs
  std::vector<std::string> differences = {};  // in the first run with any; the last line describes its inputs
  std::string not_compared = {};              // why there was none, or not all

  // Adds the result of another run.
  void Add(CheckResult&& more);
};

class FunctionCheck {
 public:
  // Begins at a module that has the function.
  FunctionCheck(std::shared_ptr<const Module> first, const ModuleEntry& function, InputKinds kinds);

  const GlobalVar& var() const { return interface_.var(); }
  const CallInterface& interface() const { return interface_; }
  // What the runs have covered of the function as it was at first.
  Coverage::Report DescribeCoverage() const { return coverage_.Describe(*first_module_, var()); }

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
  // A run that did not fail, or one that an assertion has ended.
  struct Trial {
    InputRecipe recipe;
    RunSettings settings;
    RunOutcome outcome;
  };
  using Trials = std::vector<Trial>;
  // The module, the interface and the runner of a function.
  struct Run {
    const Module& module;
    const CallInterface& interface;
    FunctionRunner& runner;
  };
  // Integers and sizes that are tried in order, until the function does not fail.
  struct Attempts {
    std::span<const IntegerRange> integers;
    std::vector<size_t> sizes;
  };

  // Fills trials_ by running the function in a module; returns why there is none, or not all that there should be.
  std::string FindTrials(const Run& run, const SemanticCheckOptions& options);
  // Fills extra_trials_, as far as there is time.
  void FindExtraTrials(const Run& run, const SemanticCheckOptions& options);
  // Nothing if no inputs were found on which the function runs; the error is the first one.
  std::optional<Trial> FindTrial(const TrialPlan& plan, const Attempts& attempts, uint64_t seed, const Run& run,
                                 uint64_t max_work, Error& error);
  Trial MakeTrial(const TrialPlan& plan, uint64_t seed, size_t sizes, const IntegerRange& integers) const;
  bool HasSizes() const;
  // Keeps a run that an assertion has ended; a few of them.
  void AddFailingTrial(Trial trial);
  // Runs them again, from this one on: they must fail as before, and print the same until then.
  void CompareFailingTrials(const Run& run, size_t first, CheckResult& result);
  // Returns whether changes of the last bits of the inputs change what the function computes as much as the difference
  // between the outcomes.
  bool IsRounding(const Trial& trial, const RunOutcome& after, const Run& run_before,
                  const ToleranceOptions& tolerance) const;
  // What compiled loops do not tell, found by the interpreter: why the results need not be the same. Empty if they must
  // be.
  std::string WhyUndefined(const Trial& trial, const Run& run_before, const CheckMode& mode) const;
  // Runs the trials again and compares; the outcomes become the expected ones.
  void CompareTrials(const Run& run_before, const Run& run, const CheckMode& mode, const ToleranceOptions& tolerance,
                     CheckResult& result);
  // As CompareTrials, as far as there is time. What cannot be compared is dropped without a word.
  void CompareExtraTrials(const Run& run_before, const Run& run, const CheckMode& mode,
                          const ToleranceOptions& tolerance, CheckResult& result);
  // The outcome of the trial in another version of the function.
  RunOutcome Repeat(const Trial& trial, const Run& run) const;
  // Compares the outcome of another run with that of the trial. False if it cannot be compared with later ones.
  bool CompareTrial(const Trial& trial, const RunOutcome& after, const CheckMode& mode,
                    const ToleranceOptions& tolerance, CheckResult& result) const;

  bool Selects(InputValues values) const;

  InputKinds kinds_;
  std::shared_ptr<const Module> first_module_;  // keeps what first_ refers to
  Entry first_;
  CallInterface interface_;
  std::unique_ptr<InputMaker> maker_ = nullptr;  // of trials_; null before the first comparison
  Trials trials_ = {};
  Trials failing_trials_ = {};
  Trials extra_trials_ = {};                        // of constants_
  std::optional<ProgramConstants> constants_ = {};  // nothing if the extra trials are to be made again
  std::string obstacle_ = {};
  Coverage coverage_ = {};
};

}  // namespace iropt
