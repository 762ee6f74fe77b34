#include "function_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>
#include <utility>

#include "iropt/ir/assertion.h"
#include "iropt/observe/operator_counts.h"
#include "iropt/runtime/statistics.h"
#include "spread.h"

namespace iropt {

namespace {

// Numbers that may be indices, divisors, or both, tried in this order.
// Integers that are not indices come first; a function that fails on them is tried with small ones.
constexpr IntegerRange kWideIntegers{-8, 8};
constexpr IntegerRange kIntegers[] = {kWideIntegers, {0, 3}, {1, 3}, {0, 1}, {0, 0}, {1, 1}};
// After so many equal failures, other inputs do not help.
constexpr size_t kMostSameFailures = 14;
// Runs that are not necessary may take more time than the others, whose sizes are smaller.
constexpr uint64_t kLeastExtraWork = uint64_t{1} << 22;
constexpr uint64_t kMostTimesExtraWork = 64;
// Runs that an assertion has ended.
constexpr size_t kMostFailingTrials = 3;
// Changes of the last bits of the inputs that are tried where a pass rounds in another way.
constexpr uint64_t kPerturbations = 32;

bool IsFinite(const RunOutcome& outcome) {
  return std::ranges::all_of(outcome.outputs, [](const NamedTensor& output) {
    return StatisticsOf(*output.tensor).num_finite == output.tensor->num_elements();
  });
}

void SetMagnitudes(const InputRecipe& recipe, RunOutcome& outcome) {
  outcome.precision.mixes_magnitudes = recipe.near_reals;
  outcome.precision.is_denormal = recipe.random.form == InputForm::kDenormal;
}

bool IsFinite(const RandomOptions& random) {
  return random.values != InputValues::kNonFinite && random.form != InputForm::kMask;
}

}  // namespace

void CheckMode::Add(const PassInfo& pass) {
  const auto declares = [&](PassChange change) {
    return std::ranges::find(pass.changes, change) != pass.changes.end();
  };
  is_narrower |= declares(PassChange::Precision);
  changes_rounding |= declares(PassChange::Rounding);
  changes_mode |= declares(PassChange::Inference);
  only_finite |= declares(PassChange::NonFinite);
  restricts_inputs |= declares(PassChange::ParamTypes);
  assumes_no_overflow |= pass.assumes_no_overflow;
  is_of_others |= !pass.assumes_no_overflow && !pass.is_composite();
}

void CheckResult::Add(CheckResult&& more) {
  num_runs += more.num_runs;
  if (!more.not_compared.empty()) not_compared = std::move(more.not_compared);
  if (!more.differences.empty()) differences = std::move(more.differences);
  outputs.resize(std::max(outputs.size(), more.outputs.size()));
  for (size_t i = 0; i < more.outputs.size(); ++i) outputs[i].Add(more.outputs[i]);
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

bool FunctionCheck::HasSizes() const {
  return !first_.symbols().empty() || std::ranges::any_of(first_.inputs(), [](const EntryInput& input) {
    if (input.kind == EntryInput::Kind::kScalar) return input.dtype.is_integer() && !input.dtype.is_bool();
    return !input.has_dims;
  });
}

FunctionCheck::Trial FunctionCheck::MakeTrial(const TrialPlan& plan, uint64_t seed, size_t sizes,
                                              const IntegerRange& integers) const {
  const bool is_wide = integers.min == kWideIntegers.min && integers.max == kWideIntegers.max;
  Trial trial;
  trial.recipe.seed = seed;
  trial.recipe.random = {.values = plan.values,
                         .form = plan.form,
                         .integer_form = is_wide ? plan.form : InputForm::kPlain,
                         .integers = integers,
                         .scale = plan.scale,
                         .is_dense = plan.is_dense,
                         .has_extremes = plan.has_extremes && is_wide,
                         .has_ends = plan.has_indices,
                         .has_sentinel = plan.has_sentinel,
                         .step = plan.counts && is_wide ? 1U : 0U};
  trial.recipe.alternates = plan.alternates;
  trial.recipe.sizes = MakeSizes(sizes, first_.symbols(), maker_->hints(), maker_->constants().integers);
  trial.recipe.near_reals = plan.near_constants;
  trial.recipe.near_integers = plan.near_constants && is_wide;
  trial.settings.fresh = std::byte{plan.fresh};
  return trial;
}

std::optional<FunctionCheck::Trial> FunctionCheck::FindTrial(const TrialPlan& plan, const Attempts& attempts,
                                                             uint64_t seed, const Run& run, uint64_t max_work,
                                                             Error& error) {
  size_t same_failures = 0;
  InputLimits limits = run.runner.input_limits();
  limits.elements = std::min(limits.elements, max_work);
  for (const size_t sizes : attempts.sizes) {
    for (const IntegerRange& integers : attempts.integers) {
      for (const bool fills_outputs : {false, true}) {
        if (fills_outputs && !maker_->has_outputs()) continue;
        Trial trial = MakeTrial(plan, seed, sizes, integers);
        if (&run.module == first_module_.get()) trial.settings.branches = &coverage_.branches();
        trial.recipe.fills_outputs = fills_outputs;
        trial.settings.max_work = max_work;
        Result<std::vector<HostValue>> inputs = maker_->Make(trial.recipe, limits);
        if (inputs.ok()) {
          trial.outcome = run.runner.Run(run.module, run.interface, *inputs, trial.settings);
          trial.settings.branches = nullptr;
          if (!trial.outcome.failure) coverage_.AddRun(*inputs, trial.outcome, IsFinite(trial.recipe.random));
        } else {
          trial.outcome.failure = inputs.TakeError();
        }
        if (!trial.outcome.failure) return trial;
        if (inputs.ok()) AddFailingTrial(trial);
        const bool is_over = trial.outcome.failure->code == ErrorCode::Budget;
        if (error.message.empty() || is_over) error = *trial.outcome.failure;
        if (is_over && max_work == UINT64_MAX) return std::nullopt;
        if (trial.outcome.failure->message == error.message && ++same_failures >= kMostSameFailures)
          return std::nullopt;
      }
    }
  }
  return std::nullopt;
}

std::string FunctionCheck::FindTrials(const Run& run, const SemanticCheckOptions& options) {
  trials_.clear();
  failing_trials_.clear();
  if (!maker_->obstacle().empty()) return maker_->obstacle();
  Error first_error{ErrorCode::SemanticCheck, {}};
  std::string incomplete;  // why a run that is possible is missing
  const size_t num_assignments = HasSizes() ? kNumSizeAssignments : 1;
  for (size_t number = 0; number < std::size(kTrialPlans); ++number) {
    const TrialPlan& plan = kTrialPlans[number];
    if (!Selects(plan.values)) continue;
    Attempts attempts{kIntegers, {}};
    // Only special values are worth the integers that are not indices.
    if (plan.values != InputValues::kSpecial) attempts.integers = attempts.integers.subspan(1);
    if (!maker_->has_integers()) attempts.integers = attempts.integers.first(1);
    for (size_t i = 0; i < num_assignments; ++i) attempts.sizes.push_back((plan.sizes + i) % num_assignments);
    const uint64_t seed = static_cast<uint64_t>(options.seed) + number;
    Error error{ErrorCode::SemanticCheck, {}};
    std::optional<Trial> trial = FindTrial(plan, attempts, seed, run, UINT64_MAX, error);
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
  return fmt::format("{}: {}", kFailsOnAllInputs, first_error.message);
}

void FunctionCheck::FindExtraTrials(const Run& run, const SemanticCheckOptions& options) {
  extra_trials_.clear();
  uint64_t work = 0;
  for (const Trial& trial : trials_) work = std::max(work, trial.outcome.work);
  const uint64_t max_work = kLeastExtraWork + kMostTimesExtraWork * work;
  for (size_t i = 0; i < std::size(kExtraPlans); ++i) {
    const TrialPlan& plan = kExtraPlans[i];
    if (!Selects(plan.values)) continue;
    if (!run.runner.HasTimeFor(2 * max_work)) return;
    // Ordinary inputs but for their sizes.
    const bool is_of_sizes = plan.sizes == kEmptySizes || plan.sizes == kPowersOfTwo || plan.has_indices;
    const bool has_sizes = HasSizes() && !plan.has_sentinel;
    if (is_of_sizes && !has_sizes && !(plan.has_indices && maker_->has_integers())) continue;
    Attempts attempts{std::span(kIntegers).first(maker_->has_integers() ? 2 : 1), {plan.sizes}};
    std::vector<IntegerRange> indices;
    if (plan.has_indices && maker_->has_integers()) {
      indices = maker_->IndexRanges(MakeSizes(plan.sizes, first_.symbols(), maker_->hints()));
      attempts.integers = indices;
    } else if (HasSizes()) {
      attempts.sizes.push_back(plan.sizes % std::size(kTrialPlans));
    }
    Error error{ErrorCode::SemanticCheck, {}};
    std::optional<Trial> trial = FindTrial(
        plan, attempts, static_cast<uint64_t>(options.seed) + std::size(kTrialPlans) + i, run, max_work, error);
    run.runner.AddExtraWork(trial ? trial->outcome.work : max_work);
    if (!trial || !trial->outcome.is_written) continue;
    SetMagnitudes(trial->recipe, trial->outcome);
    extra_trials_.push_back(*std::move(trial));
  }
}

bool FunctionCheck::CompareTrial(const Trial& trial, const RunOutcome& after, const CheckMode& mode,
                                 const ToleranceOptions& tolerance, CheckResult& result) const {
  const std::string inputs = fmt::format("with {}", maker_->Describe(trial.recipe));
  // Loops may compute anything where the original overflows, and differences of bounds overflow where these are at the
  // ends of their dtype. So may loops that replace operators, which wrap around and take negative indices.
  const bool is_wild = trial.recipe.has_any_integers();
  const bool replaces_operators = maker_->has_wide_integers() && !trial.outcome.runs_loops;
  const LoopFacts& before = trial.outcome.facts;
  const bool may_overflow =
      before.overflows ||
      (is_wild && (before.may_overflow || after.facts.overflows || after.facts.may_overflow || replaces_operators));
  if (mode.assumes_no_overflow && after.runs_loops && may_overflow) return !after.failure;
  const RandomOptions& random = trial.recipe.random;
  const bool only_finite = mode.only_finite || !kinds_.non_finite;
  if (only_finite && random.values == InputValues::kNonFinite) return !after.failure;
  if (only_finite && after.failure && !IsFinite(trial.outcome)) return false;
  if (after.failure && (mode.restricts_inputs || after.failure->code == ErrorCode::Budget)) {
    result.not_compared = fmt::format("after the pass it fails {}: {}", inputs, after.failure->message);
    return false;
  }
  if (after.failure) {
    result.differences = {fmt::format("the run fails: {}", after.failure->message), inputs};
    return false;
  }
  // Narrower floats overflow sooner.
  if (mode.is_narrower && (random.values != InputValues::kOrdinary || random.form != InputForm::kPlain)) return true;
  // Sums of the least floats overflow.
  const bool overflows = random.form == InputForm::kMask && !(IsFinite(trial.outcome) && IsFinite(after));
  if (only_finite && overflows) return true;
  OutcomeComparison comparison =
      CompareOutcomes(after, OnlyCountedRows(trial.outcome, after, mode.counted_rows), mode.is_narrower, tolerance);
  if (!comparison.differences.empty() && mode.changes_mode) {
    result.not_compared =
        "a pass turns R.nn.batch_norm and R.nn.dropout from training to inference, or back; see the flag -mode";
    return true;
  }
  if (!comparison.differences.empty() && mode.changes_rounding) {
    result.not_compared = "a pass computes quantized tensors with integers, which rounds in another way";
    return true;
  }
  const bool has_same_draws = after.num_draws == trial.outcome.num_draws;
  if (!comparison.differences.empty() && trial.outcome.is_random && has_same_draws) {
    result.not_compared = "it uses random numbers, which may be drawn in another order";
    return true;
  }
  ++result.num_runs;
  if (!comparison.differences.empty()) {
    result.differences = std::move(comparison.differences);
    result.differences.push_back(inputs);
  }
  result.outputs = std::move(comparison.outputs);
  return true;
}

RunOutcome FunctionCheck::Repeat(const Trial& trial, const Run& run) const {
  const Result<std::vector<HostValue>> inputs = maker_->Make(trial.recipe, run.runner.input_limits());
  IROPT_CHECK(inputs.ok(), "inputs that were made are not made again: {}", inputs.error().message);
  RunOutcome outcome = run.runner.Run(run.module, run.interface, *inputs, trial.settings);
  SetMagnitudes(trial.recipe, outcome);
  return outcome;
}

std::string FunctionCheck::WhyUndefined(const Trial& trial, const Run& run_before, const CheckMode& mode) const {
  if (!run_before.runner.compiles() || !trial.outcome.runs_loops) return {};
  Trial interpreted{trial.recipe, trial.settings, {}};
  interpreted.settings.interprets = true;
  const RunOutcome outcome = Repeat(interpreted, run_before);
  if (outcome.facts.reads_uninitialized) return "it reads elements that have no value";
  const bool is_unknown = outcome.failure && outcome.failure->code == ErrorCode::Budget;
  const bool may_overflow = mode.assumes_no_overflow && trial.outcome.facts.may_overflow;
  return may_overflow && (outcome.facts.overflows || is_unknown) ? "integers may overflow" : std::string();
}

void FunctionCheck::CompareTrials(const Run& run_before, const Run& run, const CheckMode& mode,
                                  const ToleranceOptions& tolerance, CheckResult& result) {
  Trials next;
  for (Trial& trial : trials_) {
    RunOutcome outcome = Repeat(trial, run);
    CheckResult compared;
    const bool is_comparable = CompareTrial(trial, outcome, mode, tolerance, compared);
    const std::string why = compared.differences.empty() ? std::string() : WhyUndefined(trial, run_before, mode);
    if (!why.empty()) {
      result.not_compared = fmt::format("{} with {}", why, maker_->Describe(trial.recipe));
      continue;
    }
    if (!compared.differences.empty() && !mode.is_of_others && IsRounding(trial, outcome, run_before, tolerance))
      compared.differences.clear();
    if (is_comparable) next.push_back({trial.recipe, trial.settings, std::move(outcome)});
    result.Add(std::move(compared));
    if (!result.differences.empty()) break;
  }
  trials_ = std::move(next);
}

bool FunctionCheck::IsRounding(const Trial& trial, const RunOutcome& after, const Run& run_before,
                               const ToleranceOptions& tolerance) const {
  if (after.failure || !after.is_written || after.outputs.size() != trial.outcome.outputs.size()) return false;
  std::vector<Spread> spreads;
  for (const NamedTensor& output : trial.outcome.outputs) spreads.emplace_back(*output.tensor);
  const auto covers = [&] {
    for (size_t i = 0; i < spreads.size(); ++i) {
      const Tolerance least = ToleranceFor(*trial.outcome.outputs[i].tensor, trial.outcome.precision, tolerance);
      const bool may_overflow = trial.recipe.random.form == InputForm::kOffset;
      if (!spreads[i].Covers(*after.outputs[i].tensor, least, may_overflow)) return false;
    }
    return true;
  };
  Trial changed{trial.recipe, trial.settings, {}};
  for (uint64_t change = 1; change <= kPerturbations; ++change) {
    changed.recipe.random.perturbation = change;
    const RunOutcome outcome = Repeat(changed, run_before);
    run_before.runner.AddExtraWork(outcome.work);
    if (outcome.failure || outcome.outputs.size() != spreads.size()) return true;  // the function fails next to it
    for (size_t i = 0; i < spreads.size(); ++i) spreads[i].Add(*outcome.outputs[i].tensor);
    if (std::has_single_bit(change) && covers()) return true;
  }
  return false;
}

void FunctionCheck::CompareExtraTrials(const Run& run_before, const Run& run, const CheckMode& mode,
                                       const ToleranceOptions& tolerance, CheckResult& result) {
  Trials next;
  for (Trial& trial : extra_trials_) {
    if (!run.runner.HasTimeFor(trial.outcome.work)) break;
    RunOutcome outcome = Repeat(trial, run);
    run.runner.AddExtraWork(outcome.work);
    CheckResult compared;
    if (!CompareTrial(trial, outcome, mode, tolerance, compared) && compared.differences.empty()) continue;
    // Where an operator takes integers that are not indices, the loops that replace it may fail.
    const bool differs = !compared.differences.empty() && !mode.is_of_others;
    if (differs &&
        (outcome.failure ? trial.recipe.has_any_integers() : IsRounding(trial, outcome, run_before, tolerance)))
      continue;
    if (!compared.differences.empty() && !WhyUndefined(trial, run_before, mode).empty()) continue;
    next.push_back({trial.recipe, trial.settings, std::move(outcome)});
    result.differences = std::move(compared.differences);
    if (!result.differences.empty()) break;
  }
  extra_trials_ = std::move(next);
}

void FunctionCheck::AddFailingTrial(Trial trial) {
  if (failing_trials_.size() < kMostFailingTrials && IsAssertionFailure(trial.outcome.failure->message))
    failing_trials_.push_back(std::move(trial));
}

void FunctionCheck::CompareFailingTrials(const Run& run, size_t first, CheckResult& result) {
  for (const Trial& trial : std::span(failing_trials_).subspan(first)) {
    const RunOutcome outcome = Repeat(trial, run);
    if (!outcome.failure) {
      result.differences = {fmt::format("the run does not fail: expected '{}'", trial.outcome.failure->message)};
    } else if (std::string lines = DescribeLines(outcome.lines, trial.outcome.lines); !lines.empty()) {
      result.differences = {fmt::format("before the run fails, {}", lines)};
    }
    if (result.differences.empty()) continue;
    result.differences.push_back(fmt::format("with {}", maker_->Describe(trial.recipe)));
    return;
  }
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
  const Run run_before{before, old, runner};
  const Run run_after{after, interface_, runner};
  if (!is_same) {
    runner.ResetWork();
    obstacle_ = FindTrials(run_before, options);
  }
  result.not_compared = obstacle_;
  if (trials_.empty()) {
    if (mode.is_of_others) CompareFailingTrials(run_after, 0, result);
    return result;
  }
  mode.changes_mode = mode.changes_mode && HasTrainingOperators(before);
  if (const Function* function = old.EntryIn(before).relax()) mode.counted_rows = FindCountedRows(*function);
  runner.ResetWork();
  CompareTrials(run_before, run_after, mode, options.tolerance, result);
  obstacle_ = result.not_compared;
  if (result.differences.empty() && mode.is_of_others) CompareFailingTrials(run_after, 0, result);
  if (!result.differences.empty() || result.num_runs == 0) {
    constants_.reset();  // extra_trials_ have the outcomes of `before`
    return result;
  }
  ProgramConstants found = FindConstants(before, after, var());
  const bool is_known = is_same && found == constants_;
  constants_ = found;
  maker_->SetConstants(std::move(found));
  runner.ResetWork();
  const size_t num_failing = failing_trials_.size();
  if (!is_known) FindExtraTrials(run_before, options);
  CompareExtraTrials(run_before, run_after, mode, options.tolerance, result);
  if (result.differences.empty() && mode.is_of_others) CompareFailingTrials(run_after, num_failing, result);
  return result;
}

}  // namespace iropt
