#include "function_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "driver/observe/operator_counts.h"

namespace iropt {

namespace {

// What the runs of a function are on.
constexpr std::array<InputValues, 4> kTrials = {InputValues::kOrdinary, InputValues::kOrdinary, InputValues::kSpecial,
                                                InputValues::kNonFinite};
// Numbers that may be indices, divisors, or both, tried in this order.
constexpr IntegerRange kIntegers[] = {{-8, 8}, {0, 3}, {1, 3}, {0, 1}, {0, 0}, {1, 1}};
// Where one failure comes back so often, other inputs do not help.
constexpr size_t kMostSameFailures = 14;

}  // namespace

void CheckMode::Add(const PassInfo& pass) {
  const auto declares = [&](PassChange change) {
    return std::ranges::find(pass.changes, change) != pass.changes.end();
  };
  is_narrower |= declares(PassChange::Precision);
  changes_mode |= declares(PassChange::Inference);
  only_finite |= declares(PassChange::NonFinite);
  restricts_inputs |= declares(PassChange::ParamTypes);
}

FunctionCheck::FunctionCheck(std::shared_ptr<const Module> first, const ModuleEntry& function, InputKinds kinds)
    : kinds_(kinds), first_module_(std::move(first)), first_(Entry::Of(function)), interface_(first_) {}

bool FunctionCheck::Selects(InputValues values) const {
  switch (values) {
    case InputValues::kOrdinary: return kinds_.ordinary;
    case InputValues::kSpecial: return kinds_.special;
    case InputValues::kNonFinite: break;
  }
  return kinds_.non_finite;
}

std::optional<FunctionCheck::Trial> FunctionCheck::FindTrial(size_t number, const Module& module,
                                                             const CallInterface& interface, FunctionRunner& runner,
                                                             uint64_t seed, Error& error) {
  const bool has_sizes = !first_.symbols().empty() || std::ranges::any_of(first_.inputs(), [](const EntryInput& input) {
    return !input.has_dims && input.kind != EntryInput::Kind::kScalar;
  });
  const size_t num_assignments = has_sizes ? kNumSizeAssignments : 1;
  // Only special values are worth the integers that are not indices.
  const auto first_integers = std::begin(kIntegers) + (kTrials[number] == InputValues::kSpecial ? 0 : 1);
  const auto last_integers = maker_->has_integers() ? std::end(kIntegers) : first_integers + 1;
  size_t same_failures = 0;
  for (size_t i = 0; i < num_assignments; ++i) {
    const InputSizes sizes = MakeSizes((number + i) % num_assignments, first_.symbols(), maker_->hints());
    for (const IntegerRange* integers = first_integers; integers != last_integers; ++integers) {
      for (const bool fills_outputs : {false, true}) {
        if (fills_outputs && !maker_->has_outputs()) continue;
        Trial trial{{seed + number, {kTrials[number], *integers}, sizes, fills_outputs}, {}};
        Result<std::vector<HostValue>> inputs = maker_->Make(trial.recipe, runner.tracking(), runner.input_limits());
        if (inputs.ok()) {
          trial.outcome = runner.Run(module, interface, *inputs);
        } else {
          trial.outcome.failure = inputs.TakeError();
        }
        if (!trial.outcome.failure) return trial;
        if (error.message.empty() || trial.outcome.failure->code == ErrorCode::Budget) error = *trial.outcome.failure;
        if (error.code == ErrorCode::Budget) return std::nullopt;
        if (trial.outcome.failure->message == error.message && ++same_failures >= kMostSameFailures)
          return std::nullopt;
      }
    }
  }
  return std::nullopt;
}

std::string FunctionCheck::FindTrials(const Module& module, const CallInterface& interface, FunctionRunner& runner,
                                      const SemanticCheckOptions& options) {
  trials_.clear();
  if (!maker_->obstacle().empty()) return maker_->obstacle();
  Error first_error{ErrorCode::SemanticCheck, {}};
  std::string incomplete;  // why a run that is possible is missing
  for (size_t i = 0; i < kTrials.size(); ++i) {
    if (!Selects(kTrials[i])) continue;
    Error error{ErrorCode::SemanticCheck, {}};
    std::optional<Trial> trial = FindTrial(i, module, interface, runner, static_cast<uint64_t>(options.seed), error);
    if (trial && !trial->outcome.is_written) {
      error.message = "its results have uninitialized elements";
      incomplete = error.message;
    } else if (trial) {
      trials_.push_back(*std::move(trial));
    }
    if (first_error.message.empty()) first_error = error;
    if (error.code != ErrorCode::Budget) continue;
    incomplete = error.message;
    break;
  }
  if (!trials_.empty()) return incomplete;
  if (first_error.code == ErrorCode::Budget) return first_error.message;
  return fmt::format("it fails on all inputs: {}", first_error.message);
}

bool FunctionCheck::CompareTrial(const Trial& trial, const RunOutcome& after, CheckMode mode,
                                 const ToleranceOptions& tolerance, CheckResult& result) const {
  const std::string inputs = fmt::format("with {}", maker_->Describe(trial.recipe));
  if (after.failure && (mode.restricts_inputs || after.failure->code == ErrorCode::Budget)) {
    result.not_compared = fmt::format("after the pass it fails {}: {}", inputs, after.failure->message);
    return false;
  }
  if (after.failure) {
    result.differences = {fmt::format("the run fails: {}", after.failure->message), inputs};
    return false;
  }
  // Narrower floats overflow sooner.
  if (mode.is_narrower && trial.recipe.random.values != InputValues::kOrdinary) return true;
  if (mode.only_finite && trial.recipe.random.values == InputValues::kNonFinite) return true;
  OutcomeComparison comparison = CompareOutcomes(after, trial.outcome, mode.is_narrower, tolerance);
  if (!comparison.differences.empty() && mode.changes_mode) {
    result.not_compared =
        "a pass turns R.nn.batch_norm and R.nn.dropout from training to inference, or back; see the flag -mode";
    return true;
  }
  if (!comparison.differences.empty() && trial.outcome.is_random) {
    result.not_compared = "it uses random numbers, which may be drawn in another order";
    return true;
  }
  ++result.num_runs;
  if (!comparison.differences.empty()) {
    result.differences = std::move(comparison.differences);
    result.differences.push_back(inputs);
  }
  result.outputs.resize(std::max(result.outputs.size(), comparison.outputs.size()));
  for (size_t i = 0; i < comparison.outputs.size(); ++i) result.outputs[i].Add(comparison.outputs[i]);
  return true;
}

CheckResult FunctionCheck::Compare(const Module& before, const CallInterface& old, const Module& after, CheckMode mode,
                                   FunctionRunner& runner, const SemanticCheckOptions& options) {
  auto maker = std::make_unique<InputMaker>(first_, interface_, interface_.EntryIn(after));
  const bool is_same = maker_ && maker_->SameInputs(*maker);
  maker_ = std::move(maker);
  std::vector<size_t> constants;
  for (const auto& [input, tensor] : interface_.bound()) constants.push_back(input);
  runner.SetConstants(std::move(constants));
  CheckResult result;
  if (!is_same) {
    runner.ResetWork();
    obstacle_ = FindTrials(before, old, runner, options);
  }
  result.not_compared = obstacle_;
  if (trials_.empty()) return result;
  mode.changes_mode = mode.changes_mode && HasTrainingOperators(before);
  runner.ResetWork();
  std::vector<Trial> next;
  for (Trial& trial : trials_) {
    const Result<std::vector<HostValue>> inputs = maker_->Make(trial.recipe, runner.tracking(), runner.input_limits());
    IROPT_CHECK(inputs.ok(), "inputs that were made are not made again: {}", inputs.error().message);
    RunOutcome outcome = runner.Run(after, interface_, *inputs);
    if (CompareTrial(trial, outcome, mode, options.tolerance, result))
      next.push_back({trial.recipe, std::move(outcome)});
    if (!result.differences.empty()) break;
  }
  trials_ = std::move(next);
  obstacle_ = result.not_compared;
  return result;
}

}  // namespace iropt
