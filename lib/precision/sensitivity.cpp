#include "iropt/precision/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_set>

#include "iropt/analysis/relax/inference_calls.h"
#include "iropt/precision/emulation.h"
#include "iropt/runtime/random.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/precision/lower_operators.h"
#include "precision/float_elements.h"
#include "precision/operator_gradient.h"

namespace iropt::precision {

namespace {

// Keeps the calls of operators of a run with their values.
class Tape : public OperatorRunner {
 public:
  Tape(size_t max_bytes, const std::unordered_set<const Call*>& inference)
      : max_bytes_(max_bytes), inference_(inference) {}

  Result<HostValue> Run(const Call& call, const OpInfo& op, std::span<const HostValue> args, Compute compute) override {
    Result<HostValue> result = compute(call.attrs, args);
    if (!result.ok() || is_full_) return result;
    ForEachTensor(*result, [this](const Tensor& tensor) { bytes_ += tensor->num_bytes(); });
    if (bytes_ > max_bytes_) {
      is_full_ = true;
      records_.clear();
      return result;
    }
    records_.push_back({.call = &call,
                        .op = &op,
                        .args = std::vector<HostValue>(args.begin(), args.end()),
                        .result = *result,
                        .is_inference = inference_.contains(&call)});
    return result;
  }

  bool is_full() const { return is_full_; }
  std::vector<CallRecord>& records() { return records_; }

 private:
  const size_t max_bytes_;
  const std::unordered_set<const Call*>& inference_;
  std::vector<CallRecord> records_;
  size_t bytes_ = 0;
  bool is_full_ = false;
};

double Dot(const NDArray& a, const NDArray& b) {
  double sum = 0;
  const std::span<const float> x = a.As<float>();
  const std::span<const float> y = b.As<float>();
  for (size_t i = 0; i < x.size(); ++i) {
    const double product = static_cast<double>(x[i]) * static_cast<double>(y[i]);
    if (std::isfinite(product)) sum += product;
  }
  return sum;
}

// got - expected, and whether an element became infinite or NaN.
std::shared_ptr<NDArray> Difference(const NDArray& got, const NDArray& expected, bool& breaks) {
  std::shared_ptr<NDArray> out = NDArray::Make(kSingle, expected.shape());
  const std::span<float> difference = out->MutableAs<float>();
  const std::span<const float> x = got.As<float>();
  const std::span<const float> y = expected.As<float>();
  for (size_t i = 0; i < difference.size(); ++i) {
    const float d = x[i] - y[i];
    breaks |= !std::isfinite(x[i]) && std::isfinite(y[i]);
    difference[i] = std::isfinite(d) ? d : 0.0F;
  }
  return out;
}

// Measures the operators of one run at a time, and adds up.
class Meter {
 public:
  Meter(const std::vector<Operator>& operators, const NumberFormat& format, const SensitivityOptions& options,
        size_t num_samples)
      : operators_(operators),
        format_(format),
        num_probes_((options.num_probes + num_samples - 1) / std::max<size_t>(num_samples, 1)),
        weight_(1.0 / static_cast<double>(std::max<size_t>(num_samples, 1))),
        rounding_(format, no_calls_) {
    sensitivity_.operators.resize(operators.size());
    for (size_t i = 0; i < operators.size(); ++i) by_call_[operators[i].call] = i;
  }

  // The values of one run; takes the records.
  void Measure(std::vector<CallRecord> records, std::span<const HostValue> args, const HostValue& output,
               uint64_t seed) {
    slots_.clear();
    by_tensor_.clear();
    size_t number = 0;
    for (const Tensor& tensor : LeavesOf(args)) AddSlot(tensor, nullptr, number++, Sensitivity::kNoOperator);
    for (const CallRecord& record : records) AddResults(record);
    SeedOutputs(output, seed);
    while (!records.empty()) {
      MeasureCall(records.back());
      records.pop_back();
    }
    for (const Slot& slot : slots_) {
      if (!slot.adjoints.empty()) AddTensorShare(slot);
    }
  }

  Sensitivity Take() {
    sensitivity_.readers.resize(sensitivity_.tensors.size());
    for (size_t i = 0; i < operators_.size(); ++i) {
      for (const size_t tensor : sensitivity_.operators[i].inputs) sensitivity_.readers[tensor].push_back(i);
    }
    return std::move(sensitivity_);
  }

 private:
  // A tensor of the run.
  struct Slot {
    Tensor value;
    size_t tensor;                      // the number of the value that it is one of
    std::vector<Tensor> adjoints = {};  // by probe; none: the outputs do not depend on it
  };

  void AddSlot(const Tensor& tensor, const Call* call, size_t leaf, size_t producer) {
    if (tensor->dtype() != kSingle || by_tensor_.Find(tensor.get())) return;
    const auto [found, is_new] = numbers_.try_emplace({call, leaf}, sensitivity_.tensors.size());
    if (is_new) {
      sensitivity_.tensors.push_back(0);
      sensitivity_.producers.push_back(producer);
    }
    by_tensor_[tensor.get()] = slots_.size();
    slots_.push_back({tensor, found->second});
  }

  void AddResults(const CallRecord& record) {
    const size_t* op = by_call_.Find(record.call);
    if (op) {
      for (const Tensor& tensor : LeavesOf(record.args)) {
        if (const size_t* slot = by_tensor_.Find(tensor.get()))
          AddOnce(sensitivity_.operators[*op].inputs, slots_[*slot].tensor);
      }
    }
    size_t leaf = 0;
    for (const Tensor& tensor : TensorsOf(record.result)) {
      AddSlot(tensor, record.call, leaf++, op ? *op : Sensitivity::kNoOperator);
      const size_t* slot = by_tensor_.Find(tensor.get());
      if (op && slot) AddOnce(sensitivity_.operators[*op].results, slots_[*slot].tensor);
    }
  }

  static void AddOnce(std::vector<size_t>& list, size_t item) {
    if (std::ranges::find(list, item) == list.end()) list.push_back(item);
  }

  // Normally distributed numbers, relative to the norm of the output. Signs would do for errors of many elements, but
  // are orthogonal to those of two elements that differ only in their signs, as behind a softmax, half of the time.
  void SeedOutputs(const HostValue& output, uint64_t seed) {
    RandomSource random(seed);
    for (const Tensor& tensor : TensorsOf(output)) {
      const size_t* slot = by_tensor_.Find(tensor.get());
      const double norm = slot ? std::sqrt(Dot(*tensor, *tensor)) : 0;
      if (norm == 0) continue;
      std::vector<Tensor> seeds;
      for (size_t probe = 0; probe < num_probes_; ++probe) {
        const std::shared_ptr<NDArray> numbers = NDArray::Make(kSingle, tensor->shape());
        for (float& x : numbers->MutableAs<float>()) x = static_cast<float>(Normal(random) / norm);
        seeds.push_back(numbers);
      }
      Add(slots_[*slot], seeds);
    }
  }

  // By Box and Muller.
  static double Normal(RandomSource& random) {
    const double radius = std::sqrt(-2 * std::log(1 - random.Uniform()));
    return radius * std::cos(2 * std::numbers::pi * random.Uniform());
  }

  static void Add(Slot& slot, const std::vector<Tensor>& adjoints) {
    if (slot.adjoints.empty()) {
      slot.adjoints = adjoints;
      return;
    }
    for (size_t probe = 0; probe < adjoints.size(); ++probe) {
      const std::shared_ptr<NDArray> sum = NDArray::Make(kSingle, slot.value->shape());
      std::ranges::transform(slot.adjoints[probe]->As<float>(), adjoints[probe]->As<float>(),
                             sum->MutableAs<float>().begin(), std::plus<>());
      slot.adjoints[probe] = sum;
    }
  }

  void AddTensorShare(const Slot& slot) {
    bool breaks = false;
    const HostValue rounded = Rounded(HostValue(slot.value), format_);
    const Tensor error = Difference(*rounded.tensor(), *slot.value, breaks);
    double sum = 0;
    for (const Tensor& adjoint : slot.adjoints) {
      const double product = Dot(*adjoint, *error);
      sum += product * product;
    }
    sensitivity_.tensors[slot.tensor] += sum * weight_ / static_cast<double>(num_probes_);
  }

  void MeasureCall(const CallRecord& record) {
    const std::vector<Tensor> results = TensorsOf(record.result);
    OperatorGradients::Adjoints adjoints(num_probes_, std::vector<Tensor>(results.size()));
    bool reaches = false;
    for (size_t leaf = 0; leaf < results.size(); ++leaf) {
      const size_t* slot = by_tensor_.Find(results[leaf].get());
      // A call that returns an operand is passed.
      if (!slot || IsOperand(record, results[leaf])) continue;
      const std::vector<Tensor>& known = slots_[*slot].adjoints;
      for (size_t probe = 0; probe < known.size(); ++probe) adjoints[probe][leaf] = known[probe];
      reaches |= !known.empty();
    }
    if (!reaches) return;
    const size_t* op = by_call_.Find(record.call);
    if (op && operators_[*op].is_candidate()) MeasureOperator(record, results, adjoints, sensitivity_.operators[*op]);
    PullBack(record, adjoints);
  }

  static bool IsOperand(const CallRecord& record, const Tensor& result) {
    bool found = false;
    for (const HostValue& arg : record.args)
      ForEachTensor(arg, [&](const Tensor& tensor) { found |= tensor == result; });
    return found;
  }

  void PullBack(const CallRecord& record, const OperatorGradients::Adjoints& adjoints) {
    const std::vector<Tensor> operands = LeavesOf(record.args);
    std::vector<bool> wanted(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) wanted[i] = by_tensor_.Find(operands[i].get()) != nullptr;
    if (std::ranges::find(wanted, true) == wanted.end()) return;
    const OperatorGradients::Adjoints pulled = gradients_.Pull(record, adjoints, wanted);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!wanted[i] || !pulled[0][i]) continue;
      std::vector<Tensor> of_operand;
      for (const std::vector<Tensor>& of_probe : pulled) of_operand.push_back(of_probe[i]);
      Add(slots_[*by_tensor_.Find(operands[i].get())], of_operand);
    }
  }

  // The square of the error of the outputs that an error of the results makes.
  double ShareOf(const std::vector<Tensor>& got, const std::vector<Tensor>& expected,
                 const OperatorGradients::Adjoints& adjoints, bool& breaks) const {
    std::vector<double> products(adjoints.size(), 0);
    for (size_t leaf = 0; leaf < expected.size(); ++leaf) {
      if (expected[leaf]->dtype() != kSingle || leaf >= got.size()) continue;
      const Tensor error = Difference(*got[leaf], *expected[leaf], breaks);
      for (size_t probe = 0; probe < adjoints.size(); ++probe) {
        if (adjoints[probe][leaf]) products[probe] += Dot(*adjoints[probe][leaf], *error);
      }
    }
    double sum = 0;
    for (const double product : products) sum += product * product;
    return sum * weight_ / static_cast<double>(adjoints.size());
  }

  void MeasureOperator(const CallRecord& record, const std::vector<Tensor>& results,
                       const OperatorGradients::Adjoints& adjoints, OperatorShare& share) {
    std::vector<HostValue> rounded, with_constants;
    bool has_constants = false;
    for (size_t i = 0; i < record.args.size(); ++i) {
      const Expr* operand = record.call->args[static_cast<uint32_t>(i)];
      rounded.push_back(rounding_.RoundedOperand(operand, record.args[i]));
      const bool is_constant = Is<Constant>(operand) && HasFloats(record.args[i]);
      has_constants |= is_constant;
      with_constants.push_back(is_constant ? record.args[i] : rounded.back());
    }
    const auto evaluate = [&](const std::vector<HostValue>& args) {
      return EvalOp(*record.op, record.call->attrs, args, {}, nullptr, record.is_inference);
    };
    const bool moves = IsWholeMove(*record.call);
    const Result<HostValue> computed = moves ? Result<HostValue>(record.result) : evaluate(rounded);
    if (!computed.ok()) {
      share.breaks = true;
      return;
    }
    const HostValue& exact = *computed;
    HostValue unrounded = exact;
    if (has_constants && !moves) {
      Result<HostValue> other = evaluate(with_constants);
      if (!other.ok()) return;
      unrounded = *std::move(other);
    }
    const std::vector<Tensor> got = TensorsOf(Rounded(exact, format_));
    share.alone += ShareOf(got, results, adjoints, share.breaks);
    bool ignored = false;
    share.own += ShareOf(got, TensorsOf(unrounded), adjoints, ignored);
  }

  const std::vector<Operator>& operators_;
  const NumberFormat& format_;
  const size_t num_probes_;
  const double weight_;
  const LookupSet<const Call*> no_calls_;
  Emulator rounding_;
  OperatorGradients gradients_;
  LookupMap<const Call*, size_t> by_call_;
  std::map<std::pair<const Call*, size_t>, size_t> numbers_;  // of tensors, by what makes them
  std::vector<Slot> slots_;
  LookupMap<const NDArray*, size_t> by_tensor_;
  Sensitivity sensitivity_;
};

}  // namespace

double Sensitivity::Predict(const std::vector<bool>& lowered) const {
  double sum = 0;
  for (size_t i = 0; i < operators.size(); ++i) sum += lowered[i] ? operators[i].own : 0;
  for (size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    if (producers[tensor] != kNoOperator && lowered[producers[tensor]]) continue;
    const bool is_read = std::ranges::any_of(readers[tensor], [&](size_t op) { return lowered[op]; });
    if (is_read) sum += tensors[tensor];
  }
  return sum;
}

double Sensitivity::Increase(const std::vector<bool>& lowered, size_t op) const {
  const auto is_read = [&](size_t tensor) {
    return std::ranges::any_of(readers[tensor], [&](size_t reader) { return lowered[reader]; });
  };
  double sum = operators[op].own;
  for (const size_t tensor : operators[op].inputs) {
    const bool is_low = producers[tensor] != kNoOperator && lowered[producers[tensor]];
    if (!is_low && !is_read(tensor)) sum += tensors[tensor];
  }
  for (const size_t tensor : operators[op].results) {
    if (is_read(tensor)) sum -= tensors[tensor];
  }
  return sum;
}

Result<Sensitivity> MeasureSensitivity(ModelRuns& runs, const std::vector<Operator>& operators,
                                       const NumberFormat& format, const SensitivityOptions& options) {
  const ModelInputs& inputs = runs.inputs();
  const size_t num_samples = std::min(options.num_samples, inputs.samples.size());
  const std::unordered_set<const Call*> inference =
      FindInferenceCalls(inputs.function, inputs.run.mode, inputs.run.constant_params);
  Meter meter(operators, format, options, num_samples);
  bool complete = true;
  for (const size_t sample : std::span(runs.order()).first(num_samples)) {
    Tape tape(options.max_bytes, inference);
    IROPT_ASSIGN_OR_RETURN(const HostValue output, runs.Run(sample, tape));
    complete &= !tape.is_full();
    if (complete) meter.Measure(std::move(tape.records()), inputs.samples[sample], output, sample + 1);
  }
  Sensitivity sensitivity = meter.Take();
  sensitivity.complete = complete;
  return sensitivity;
}

}  // namespace iropt::precision
