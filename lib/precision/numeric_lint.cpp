#include "iropt/precision/numeric_lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/runtime/map_tensors.h"
#include "precision/float_elements.h"
#include "precision/operator_gradient.h"

namespace iropt::precision {

namespace {

// Sums of products or elements: the same sum of magnitudes tells how much cancels.
constexpr OpId kSums[] = {op::kSum,      op::kMean,     op::kMatmul,   op::kAdd,
                          op::kSubtract, op::kNnConv1d, op::kNnConv2d, op::kNnConv3d};
// Bits that are lost before it is worth a word: about half of those of float32.
constexpr double kLostBits = 12;

// The sums of squares of results, and of those of magnitudes.
struct Cancellation {
  double result = 0;
  double terms = 0;
};

double SumOfSquares(const HostValue& value) {
  double sum = 0;
  for (const Tensor& tensor : TensorsOf(value)) {
    ForEachPiece(*tensor, [&](std::span<const float> piece) {
      for (const float x : piece) {
        if (std::isfinite(x)) sum += static_cast<double>(x) * static_cast<double>(x);
      }
    });
  }
  return sum;
}

Tensor Magnitudes(const Tensor& tensor) {
  if (tensor->dtype() != kSingle) return tensor;
  const std::shared_ptr<NDArray> out = NDArray::Make(kSingle, tensor->shape());
  std::ranges::transform(tensor->As<float>(), out->MutableAs<float>().begin(), [](float x) { return std::abs(x); });
  return out;
}

Tensor Negated(const Tensor& tensor) {
  if (tensor->dtype() != kSingle) return tensor;
  const std::shared_ptr<NDArray> out = NDArray::Make(kSingle, tensor->shape());
  std::ranges::transform(tensor->As<float>(), out->MutableAs<float>().begin(), std::negate<>());
  return out;
}

// Computes sums a second time, of magnitudes.
class CancellationMeter : public OperatorRunner {
 public:
  Result<HostValue> Run(const Call& call, const OpInfo& op, std::span<const HostValue> args, Compute compute) override {
    IROPT_ASSIGN_OR_RETURN(HostValue result, compute(call.attrs, args));
    if (std::ranges::find(kSums, op.id) == std::end(kSums)) return result;
    std::vector<HostValue> positive;
    for (const HostValue& arg : args) positive.push_back(MapTensors(arg, Magnitudes));
    if (op.id == op::kSubtract) positive[1] = MapTensors(positive[1], Negated);
    const Result<HostValue> terms = compute(call.attrs, positive);
    if (!terms.ok()) return result;
    Cancellation& of_call = by_call_[&call];
    of_call.result += SumOfSquares(result);
    of_call.terms += SumOfSquares(*terms);
    return result;
  }

  // The bits that are lost on the way to the results; 0 if nothing is known.
  double LostBits(const Call& call) const {
    const auto found = by_call_.find(&call);
    if (found == by_call_.end() || found->second.terms == 0) return 0;
    constexpr double kExact = 53;  // all terms cancel
    return found->second.result == 0 ? kExact : 0.5 * std::log2(found->second.terms / found->second.result);
  }

 private:
  std::map<const Call*, Cancellation> by_call_;
};

class Linter : private ExprVisitor {
 public:
  Linter(const Recording& recording, const CancellationMeter& meter, const NumberFormat& format)
      : recording_(recording), meter_(meter), format_(format) {}

  std::vector<NumericFinding> Look(const Function& function) {
    VisitExpr(&function);
    return std::move(findings_);
  }

 private:
  void VisitVarBinding(const VarBinding* binding) override {
    if (const auto* call = As<Call>(binding->value)) LookAt(*call, *binding->var);
    ExprVisitor::VisitVarBinding(binding);
  }

  void LookAt(const Call& call, const Var& var) {
    bool has_nan = false;
    bool has_infinity = false;
    for (const Expr* arg : call.args) {
      ForEachLeaf(arg, [&](const Expr* leaf) {
        const auto* operand = As<Var>(leaf);
        const ValueRecord* record = operand ? recording_.Find(*operand) : nullptr;
        has_nan |= record && record->num_nans != 0;
        has_infinity |= record && record->num_infinities != 0;
        if (const auto* constant = As<Constant>(leaf)) LookAtConstant(call, var, *constant, has_infinity);
      });
    }
    if (const ValueRecord* record = recording_.Find(var)) LookAtResult(call, var, *record, has_nan, has_infinity);
    const double lost = meter_.LostBits(call);
    if (lost >= kLostBits) {
      Add(call, var,
          lost >= 53 ? "all of its sums cancel to 0"
                     : fmt::format("its sums are much smaller than their terms: {:.0f} of 24 bits cancel",
                                   std::min(lost, 24.0)));
    }
  }

  void LookAtResult(const Call& call, const Var& var, const ValueRecord& record, bool has_nan, bool has_infinity) {
    if (record.num_nans != 0 && !has_nan) Add(call, var, fmt::format("{} elements are NaN", record.num_nans));
    if (record.num_infinities != 0 && !has_infinity)
      Add(call, var, fmt::format("{} elements are infinite", record.num_infinities));
    if (const uint64_t count = record.NumOverflows(format_); count != 0)
      Add(call, var,
          fmt::format("overflows {} at {:.2g}, in {} of {} elements", format_.name, record.GreatestMagnitude(), count,
                      record.num_elements));
    const uint64_t not_zero = record.histogram.total();
    if (const uint64_t count = record.NumFlushed(format_); count * 2 > not_zero)
      Add(call, var,
          fmt::format("{} of {} elements that are not 0 are 0 in {}, the greatest is {:.2g}", count, not_zero,
                      format_.name, record.GreatestMagnitude()));
    if (const uint64_t count = record.NumSubnormal(*FormatOfDType(kSingle)); count != 0)
      Add(call, var, fmt::format("{} of {} elements are denormal", count, record.num_elements));
  }

  // Masks are added, or chosen where a condition holds.
  void LookAtConstant(const Call& call, const Var& var, const Constant& constant, bool& has_infinity) {
    const auto* op = As<Op>(call.op);
    if (!op || constant.data->dtype() != kSingle) return;
    const bool is_mask = op->id == op::kAdd || op->id == op::kWhere;
    const std::span<const float> elements = constant.data->As<float>();
    has_infinity |= std::ranges::any_of(elements, [](float x) { return std::isinf(x); });
    if (!is_mask) return;
    const auto infinite = std::ranges::find_if(elements, [](float x) { return std::isinf(x); });
    const auto large =
        std::ranges::find_if(elements, [&](float x) { return x < 0 && Overflows(static_cast<double>(x), format_); });
    if (infinite != elements.end()) {
      Add(call, var, "a mask has infinities: a softmax of a row of them is NaN");
    } else if (large != elements.end()) {
      Add(call, var,
          fmt::format("a mask has {:.2g}, which is infinite in {}: a softmax of a row of it is NaN", *large,
                      format_.name));
    }
  }

  void Add(const Call& call, const Var& var, std::string message) {
    findings_.push_back({&call, &var, std::move(message)});
  }

  const Recording& recording_;
  const CancellationMeter& meter_;
  const NumberFormat& format_;
  std::vector<NumericFinding> findings_;
};

}  // namespace

Result<std::vector<NumericFinding>> LintNumbers(const ModelInputs& inputs, const NumberFormat& format) {
  ModelRuns runs(inputs);
  Recording recording;
  CancellationMeter meter;
  IROPT_RETURN_IF_ERROR(runs.Record(recording, &meter));
  return Linter(recording, meter, format).Look(inputs.function);
}

}  // namespace iropt::precision
