#include "iropt/precision/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/precision/emulation.h"

namespace iropt::precision {

namespace {

LookupSet<const Call*> CallsOf(const std::vector<Operator>& operators, const std::vector<bool>& lowered) {
  LookupSet<const Call*> calls;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (lowered[i]) calls.insert(operators[i].call);
  }
  return calls;
}

// Calls f with the record of each tensor that the expression is; constants have none.
template <class F>
void ForEachRecord(const Expr* expr, const Recording& recording, F f) {
  ForEachLeaf(expr, [&](const Expr* leaf) {
    const auto* var = As<Var>(leaf);
    if (!var) return;
    uint32_t number = 0;
    ForEachLeaf(var->type, [&](const Type*) {
      if (const ValueRecord* record = recording.Find(*var, number++)) f(*record);
    });
  });
}

// What of the values that an operator reads or makes does not fit the format; empty if all does.
std::string DescribeOverflow(const Operator& op, const Recording& recording, const NumberFormat& format) {
  std::string reason;
  const auto check = [&](const ValueRecord& record, std::string_view what) {
    if (reason.empty() && record.NumOverflows(format) != 0)
      reason = fmt::format("{}overflows {} at {:.2g}", what, format.name, record.GreatestMagnitude());
  };
  ForEachRecord(op.var, recording, [&](const ValueRecord& record) { check(record, ""); });
  for (const Expr* arg : op.call->args)
    ForEachRecord(arg, recording, [&](const ValueRecord& record) { check(record, "an operand "); });
  return reason;
}

// An upper bound of the operators to lower, one more at a time.
struct Step {
  size_t op;
  double predicted;  // the square of the error with it and those before it
};

double BenefitOf(const Operator& op, Objective objective) {
  switch (objective) {
    case Objective::kOperators: return 1;
    case Objective::kSize: return 1 + static_cast<double>(op.constant_bytes);
    case Objective::kSpeed: return 1 + static_cast<double>(op.elements);
  }
  return 1;
}

// Adds the operator whose benefit costs the least error, again and again.
class Order {
 public:
  Order(const std::vector<Operator>& operators, const Sensitivity& sensitivity, Objective objective)
      : operators_(operators), sensitivity_(sensitivity), objective_(objective), lowered_(operators.size()) {}

  std::vector<Step> Make() {
    for (size_t i = 0; i < operators_.size(); ++i) {
      if (operators_[i].is_candidate()) queue_.push({CostOf(i), i});
    }
    std::vector<Step> steps;
    double predicted = 0;
    while (!queue_.empty()) {
      const auto [cost, op] = queue_.top();
      queue_.pop();
      if (lowered_[op]) continue;
      const double now = CostOf(op);
      // Its neighbours may have been lowered since it was put there.
      if (now > cost && !queue_.empty() && now > queue_.top().first) {
        queue_.push({now, op});
        continue;
      }
      predicted += sensitivity_.Increase(lowered_, op);
      lowered_[op] = true;
      steps.push_back({op, std::max(predicted, 0.0)});
      for (const std::vector<size_t>* tensors : {&Share(op).inputs, &Share(op).results})
        for (const size_t tensor : *tensors) Renew(tensor);
    }
    return steps;
  }

 private:
  using Entry = std::pair<double, size_t>;

  const OperatorShare& Share(size_t op) const { return sensitivity_.operators[op]; }
  double CostOf(size_t op) const { return sensitivity_.Increase(lowered_, op) / BenefitOf(operators_[op], objective_); }
  void Renew(size_t tensor) {
    const auto push = [this](size_t op) {
      if (!lowered_[op] && operators_[op].is_candidate()) queue_.push({CostOf(op), op});
    };
    if (sensitivity_.producers[tensor] != Sensitivity::kNoOperator) push(sensitivity_.producers[tensor]);
    for (const size_t op : sensitivity_.readers[tensor]) push(op);
  }

  const std::vector<Operator>& operators_;
  const Sensitivity& sensitivity_;
  const Objective objective_;
  std::vector<bool> lowered_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

// Runs of candidates, and the greatest number of steps whose error is within the tolerance.
class Confirmation {
 public:
  Confirmation(ModelRuns& runs, const std::vector<Operator>& operators, const std::vector<Step>& steps,
               const ChoiceOptions& options)
      : runs_(runs), operators_(operators), steps_(steps), options_(options) {}

  Status Search() {
    const double budget = options_.tolerance * options_.tolerance;
    size_t bad = steps_.size() + 1;
    double scale = 1;  // of the measured square of the error, relative to the predicted one
    for (size_t round = 0; round < options_.max_confirmations && bad - good_ > 1; ++round) {
      size_t next = LastWithin(budget / scale);
      // The last rounds halve what is left.
      if (next <= good_ || next >= bad || round + 3 >= options_.max_confirmations) next = good_ + (bad - good_) / 2;
      if (next >= bad || next <= good_) break;
      IROPT_ASSIGN_OR_RETURN(const double error, ErrorOf(next));
      const double predicted = steps_[next - 1].predicted;
      if (error <= options_.tolerance) {
        good_ = next;
        error_ = error;
      } else {
        bad = next;
      }
      if (std::isfinite(error) && predicted > 0 && error > 0) scale = error * error / predicted;
      // A few operators more are not worth a run.
      if (good_ != 0 && bad - good_ <= 1 + steps_.size() / 64) break;
    }
    return {};
  }

  size_t good() const { return good_; }
  double error() const { return error_; }

 private:
  size_t LastWithin(double budget) const {
    size_t last = 0;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].predicted <= budget) last = i + 1;
    }
    return last;
  }

  Result<double> ErrorOf(size_t count) {
    std::vector<bool> lowered(operators_.size());
    for (size_t i = 0; i < count; ++i) lowered[steps_[i].op] = true;
    const LookupSet<const Call*> calls = CallsOf(operators_, lowered);
    Emulator emulator(*options_.format, calls);
    return runs_.ErrorWith(emulator, options_.tolerance);
  }

  ModelRuns& runs_;
  const std::vector<Operator>& operators_;
  const std::vector<Step>& steps_;
  const ChoiceOptions& options_;
  size_t good_ = 0;
  double error_ = 0;
};

// Excludes operators whose values do not fit the format in some run, and those of branches that no run takes.
void ExcludeOverflows(std::vector<Operator>& operators, const Sensitivity& sensitivity, const Recording& recording,
                      const NumberFormat& format) {
  for (size_t i = 0; i < operators.size(); ++i) {
    Operator& op = operators[i];
    if (!op.is_candidate()) continue;
    const bool runs = recording.entries().empty() || recording.Has(*op.var);
    op.reason = runs ? DescribeOverflow(op, recording, format) : "no run computes it";
    if (op.reason.empty() && i < sensitivity.operators.size() && sensitivity.operators[i].breaks)
      op.reason = fmt::format("it gives NaN or infinity in {}", format.name);
  }
}

// Raises groups of neighbours that have no constants, and that need at least as many casts as they have operators: they
// neither make the model smaller nor faster. What is around them stays in float32, so the error does not grow.
void RaiseIslands(std::vector<Operator>& operators, const Sensitivity& sensitivity, std::vector<bool>& lowered) {
  std::vector<size_t> group(operators.size());
  std::iota(group.begin(), group.end(), size_t{0});
  const auto root = [&](size_t op) {
    while (group[op] != op) op = group[op] = group[group[op]];
    return op;
  };
  const auto is_low = [&](size_t op) { return op != Sensitivity::kNoOperator && lowered[op]; };
  for (size_t i = 0; i < operators.size(); ++i) {
    for (const size_t tensor : sensitivity.operators[i].inputs) {
      const size_t producer = sensitivity.producers[tensor];
      if (lowered[i] && is_low(producer)) group[root(i)] = root(producer);
    }
  }
  struct Size {
    size_t operators = 0;
    size_t casts = 0;
    uint64_t constant_bytes = 0;
  };
  std::vector<Size> sizes(operators.size());
  for (size_t i = 0; i < operators.size(); ++i) {
    if (!lowered[i]) continue;
    Size& size = sizes[root(i)];
    ++size.operators;
    size.constant_bytes += operators[i].constant_bytes;
    for (const size_t tensor : sensitivity.operators[i].inputs)
      size.casts += is_low(sensitivity.producers[tensor]) ? 0 : 1;
    for (const size_t tensor : sensitivity.operators[i].results) {
      const std::vector<size_t>& readers = sensitivity.readers[tensor];
      size.casts += readers.empty() || !std::ranges::all_of(readers, is_low) ? 1 : 0;
    }
  }
  for (size_t i = 0; i < operators.size(); ++i) {
    const Size& size = sizes[root(i)];
    if (!lowered[i] || size.constant_bytes != 0 || size.casts < size.operators) continue;
    operators[i].reason = "casts around it would cost more than it saves";
  }
  for (size_t i = 0; i < operators.size(); ++i) lowered[i] = lowered[i] && operators[i].is_candidate();
}

bool HasOutputsToMeasure(const ModelRuns& runs) {
  return std::ranges::any_of(runs.outputs(), [](const HostValue& output) { return HasFloats(output); });
}

}  // namespace

LookupSet<const Call*> Choice::LoweredCalls() const {
  LookupSet<const Call*> calls;
  for (const ChosenOperator& chosen : operators) {
    if (chosen.lowered) calls.insert(chosen.op.call);
  }
  return calls;
}

size_t Choice::NumLowered() const {
  return static_cast<size_t>(std::ranges::count(operators, true, &ChosenOperator::lowered));
}

size_t Choice::NumCandidates() const {
  return static_cast<size_t>(
      std::ranges::count_if(operators, [](const ChosenOperator& chosen) { return chosen.op.is_candidate(); }));
}

Result<Choice> AllOperators(const ModelInputs& inputs, std::vector<Operator> operators, const NumberFormat& format,
                            Recording& recording) {
  ModelRuns runs(inputs);
  IROPT_RETURN_IF_ERROR(runs.Record(recording));
  ExcludeOverflows(operators, {}, recording, format);
  Choice choice;
  choice.num_runs = runs.num_runs();
  choice.measures_outputs = HasOutputsToMeasure(runs);
  for (Operator& op : operators) {
    const bool lowered = op.is_candidate();
    const ValueRecord* record = recording.Find(*op.var);
    choice.operators.push_back({.op = std::move(op), .lowered = lowered, .error = 0, .record = record});
  }
  return choice;
}

Result<Choice> ChooseOperators(const ModelInputs& inputs, std::vector<Operator> operators, const ChoiceOptions& options,
                               Recording& recording) {
  ModelRuns runs(inputs);
  IROPT_RETURN_IF_ERROR(runs.Record(recording));
  ExcludeOverflows(operators, {}, recording, *options.format);
  Choice choice;
  choice.measures_outputs = HasOutputsToMeasure(runs);
  std::vector<bool> lowered(operators.size());
  for (size_t i = 0; i < operators.size(); ++i) lowered[i] = operators[i].is_candidate();
  const auto error_of = [&]() -> Result<double> {
    const LookupSet<const Call*> calls = CallsOf(operators, lowered);
    Emulator emulator(*options.format, calls);
    return runs.ErrorWith(emulator);
  };
  IROPT_ASSIGN_OR_RETURN(choice.measured, error_of());
  // Usually all operators fit, and nothing else is needed.
  const bool all_fit = choice.measured <= options.tolerance;
  choice.has_shares = !all_fit || options.wants_shares;
  Sensitivity sensitivity;
  if (choice.has_shares) {
    IROPT_ASSIGN_OR_RETURN(sensitivity, MeasureSensitivity(runs, operators, *options.format, options.sensitivity));
    choice.complete = sensitivity.complete;
    choice.num_backward = options.sensitivity.num_probes;
  }
  if (!all_fit) {
    ExcludeOverflows(operators, sensitivity, recording, *options.format);
    const std::vector<Step> steps = Order(operators, sensitivity, options.objective).Make();
    Confirmation confirmation(runs, operators, steps, options);
    IROPT_RETURN_IF_ERROR(confirmation.Search());
    lowered.assign(operators.size(), false);
    for (size_t i = 0; i < confirmation.good(); ++i) lowered[steps[i].op] = true;
    choice.measured = confirmation.error();
    if (options.objective != Objective::kOperators) RaiseIslands(operators, sensitivity, lowered);
  }
  choice.predicted = choice.has_shares ? std::sqrt(sensitivity.Predict(lowered)) : 0;
  choice.num_runs = runs.num_runs();
  for (size_t i = 0; i < operators.size(); ++i) {
    const double error = choice.has_shares ? std::sqrt(sensitivity.operators[i].alone) : 0;
    const ValueRecord* record = recording.Find(*operators[i].var);
    if (!lowered[i] && operators[i].is_candidate())
      operators[i].reason = fmt::format("its error alone is {:.1e}", error);
    choice.operators.push_back(
        {.op = std::move(operators[i]), .lowered = lowered[i], .error = error, .record = record});
  }
  return choice;
}

Result<std::vector<size_t>> FindBreakingOperators(const ModelInputs& inputs, const std::vector<Operator>& operators,
                                                  const ChoiceOptions& options, Recording& recording, size_t& num_runs,
                                                  double& error) {
  ModelRuns runs(inputs);
  IROPT_RETURN_IF_ERROR(runs.Record(recording));
  IROPT_ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                         MeasureSensitivity(runs, operators, *options.format, options.sensitivity));
  // The worst operators first.
  std::vector<size_t> order;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (operators[i].is_candidate()) order.push_back(i);
  }
  const auto badness = [&](size_t i) {
    const bool overflows = !DescribeOverflow(operators[i], recording, *options.format).empty();
    return std::pair(sensitivity.operators[i].breaks || overflows, sensitivity.operators[i].alone);
  };
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return badness(a) > badness(b); });
  const auto error_of = [&](std::span<const size_t> set) -> Result<double> {
    std::vector<bool> lowered(operators.size());
    for (const size_t op : set) lowered[op] = true;
    const LookupSet<const Call*> calls = CallsOf(operators, lowered);
    Emulator emulator(*options.format, calls);
    return runs.ErrorWith(emulator);
  };
  IROPT_ASSIGN_OR_RETURN(error, error_of(order));
  std::vector<size_t> found;
  if (error > options.tolerance) {
    // The shortest beginning of the order that breaks the tolerance.
    size_t good = 0;
    size_t bad = order.size();
    while (bad - good > 1) {
      const size_t middle = good + (bad - good) / 2;
      IROPT_ASSIGN_OR_RETURN(const double at, error_of(std::span(order).first(middle)));
      (at > options.tolerance ? bad : good) = middle;
    }
    found.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(bad));
    // Then without each of the others that it does not need.
    for (size_t i = found.size(); i-- > 0 && found.size() > 1;) {
      std::vector<size_t> fewer = found;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      IROPT_ASSIGN_OR_RETURN(const double at, error_of(fewer));
      if (at > options.tolerance) found = std::move(fewer);
    }
    IROPT_ASSIGN_OR_RETURN(error, error_of(found));
  }
  num_runs = runs.num_runs();
  return found;
}

}  // namespace iropt::precision
