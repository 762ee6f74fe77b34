#include "iropt/precision/model_runs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "precision/float_elements.h"
#include "precision/operator_gradient.h"

namespace iropt::precision {

namespace {

// The square of the relative error of one tensor.
double ErrorOfTensor(const NDArray& got, const NDArray& expected) {
  double difference = 0;
  double norm = 0;
  bool differs = got.num_elements() != expected.num_elements();
  std::vector<float> wanted;
  wanted.reserve(static_cast<size_t>(expected.num_elements()));
  ForEachPiece(expected,
               [&](std::span<const float> piece) { wanted.insert(wanted.end(), piece.begin(), piece.end()); });
  size_t next = 0;
  if (differs) return std::numeric_limits<double>::infinity();
  ForEachPiece(got, [&](std::span<const float> piece) {
    for (const float x : piece) {
      const float y = wanted[next++];
      if (!std::isfinite(x) || !std::isfinite(y)) {
        differs |= !(x == y || (std::isnan(x) && std::isnan(y)));
        continue;
      }
      const double d = static_cast<double>(x) - static_cast<double>(y);
      difference += d * d;
      norm += static_cast<double>(y) * static_cast<double>(y);
    }
  });
  if (differs) return std::numeric_limits<double>::infinity();
  if (difference == 0) return 0;
  return norm == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(difference / norm);
}

}  // namespace

double RelativeError(const HostValue& got, const HostValue& expected) {
  const std::vector<Tensor> tensors = TensorsOf(got);
  const std::vector<Tensor> wanted = TensorsOf(expected);
  if (tensors.size() != wanted.size()) return std::numeric_limits<double>::infinity();
  double error = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (wanted[i]->dtype().is_floating()) error = std::max(error, ErrorOfTensor(*tensors[i], *wanted[i]));
  }
  return error;
}

bool HasFloats(const HostValue& value) {
  bool found = false;
  ForEachTensor(value,
                [&](const Tensor& tensor) { found |= tensor->dtype().is_floating() && tensor->num_elements() > 0; });
  return found;
}

Status ModelRuns::Record(Recording& recording, OperatorRunner* operators) {
  Recorder recorder(recording);
  for (size_t i = 0; i < inputs_.samples.size(); ++i) {
    RunOptions run = inputs_.run;
    run.observer = &recorder;
    run.operators = operators;
    recorder.AddInputs(inputs_.function, inputs_.samples[i]);
    IROPT_ASSIGN_OR_RETURN(HostValue output,
                           RunFunction(inputs_.module, inputs_.function, inputs_.samples[i], inputs_.diagnostics, run));
    outputs_.push_back(std::move(output));
    order_.push_back(i);
    ++num_runs_;
  }
  return {};
}

Result<HostValue> ModelRuns::Run(size_t sample, OperatorRunner& operators) {
  RunOptions run = inputs_.run;
  run.operators = &operators;
  ++num_runs_;
  return RunFunction(inputs_.module, inputs_.function, inputs_.samples[sample], inputs_.diagnostics, run);
}

Result<double> ModelRuns::ErrorOf(size_t sample, OperatorRunner& operators) {
  IROPT_ASSIGN_OR_RETURN(const HostValue output, Run(sample, operators));
  return RelativeError(output, outputs_[sample]);
}

Result<double> ModelRuns::ErrorWith(OperatorRunner& operators, double limit) {
  std::vector<double> errors(outputs_.size(), 0);
  double greatest = 0;
  for (const size_t sample : order_) {
    IROPT_ASSIGN_OR_RETURN(errors[sample], ErrorOf(sample, operators));
    greatest = std::max(greatest, errors[sample]);
    if (greatest > limit) return greatest;
  }
  if (!is_ordered_ && std::isinf(limit)) {
    is_ordered_ = true;
    std::ranges::stable_sort(order_, std::greater<>(), [&](size_t sample) { return errors[sample]; });
  }
  return greatest;
}

}  // namespace iropt::precision
