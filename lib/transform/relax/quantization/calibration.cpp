// Source: the ways of choosing ranges are those of onnxruntime's calibration; the divergence is that of S. Migacz,
// 8-bit Inference with TensorRT, 2017.
#include "calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <type_traits>

#include "iropt/ir/element.h"

namespace iropt {

namespace {

constexpr size_t kBins = 2048;
constexpr size_t kLevels = 256;
constexpr int kCandidates = 64;  // shares of the whole range: 1, 63/64, ...

ValueRange WithZero(ValueRange range) { return {std::min(range.least, 0.0), std::max(range.greatest, 0.0)}; }

ValueRange PercentileRange(const ValueHistogram& histogram, double percent) {
  const auto total = std::accumulate(histogram.counts.begin(), histogram.counts.end(), uint64_t{0});
  const double tail = (1 - percent / 100) / 2 * static_cast<double>(total);
  ValueRange range = histogram.range;
  double sum = 0;
  for (size_t i = 0; i < histogram.counts.size(); ++i) {
    sum += static_cast<double>(histogram.counts[i]);
    if (sum > tail) break;
    range.least = histogram.range.least + histogram.width() * static_cast<double>(i + 1);
  }
  sum = 0;
  for (size_t i = histogram.counts.size(); i-- > 0;) {
    sum += static_cast<double>(histogram.counts[i]);
    if (sum > tail) break;
    range.greatest = histogram.range.least + histogram.width() * static_cast<double>(i);
  }
  return WithZero(range);
}

// The squared error of rounding in the range, and of what is outside of it.
double SquaredError(const ValueHistogram& histogram, const ValueRange& range) {
  const double step = (range.greatest - range.least) / (kLevels - 1);
  double error = 0;
  for (size_t i = 0; i < histogram.counts.size(); ++i) {
    const double value = histogram.range.least + histogram.width() * (static_cast<double>(i) + 0.5);
    const double beyond = std::max({range.least - value, value - range.greatest, 0.0});
    error += static_cast<double>(histogram.counts[i]) * (beyond > 0 ? beyond * beyond : step * step / 12);
  }
  return error;
}

// The divergence of the values in the bins, with those outside of them at their ends, from what levels of integers make
// of them, without what chance adds to it: half the number of bins that levels merge, for each value.
double Divergence(const ValueHistogram& histogram, size_t begin, size_t end) {
  const std::span counts(histogram.counts);
  std::vector<double> clipped(counts.begin() + static_cast<std::ptrdiff_t>(begin),
                              counts.begin() + static_cast<std::ptrdiff_t>(end));
  for (size_t i = 0; i < begin; ++i) clipped.front() += static_cast<double>(counts[i]);
  for (size_t i = end; i < counts.size(); ++i) clipped.back() += static_cast<double>(counts[i]);
  const double total = std::accumulate(clipped.begin(), clipped.end(), 0.0);
  const double inside =
      static_cast<double>(std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(begin),
                                          counts.begin() + static_cast<std::ptrdiff_t>(end), uint64_t{0}));
  double divergence = 0;
  if (inside == 0) return HUGE_VAL;
  double merged = 0;
  for (size_t level = 0; level < kLevels; ++level) {
    const size_t first = level * clipped.size() / kLevels;
    const size_t last = (level + 1) * clipped.size() / kLevels;
    double sum = 0;
    double filled = 0;
    for (size_t i = first; i < last; ++i) {
      // What was clipped is not what the integers are made of.
      sum += static_cast<double>(counts[begin + i]);
      filled += clipped[i] != 0 ? 1 : 0;
    }
    if (filled > 1) merged += filled - 1;
    for (size_t i = first; i < last; ++i) {
      if (clipped[i] == 0) continue;
      const double expected = std::max(sum / filled, 1e-6) / inside;
      divergence += clipped[i] / total * std::log(clipped[i] / total / expected);
    }
  }
  return divergence - merged / (2 * total);
}

ValueRange BestShare(const ValueHistogram& histogram, bool by_divergence) {
  const ValueRange whole = WithZero(histogram.range);
  ValueRange best = whole;
  double least = HUGE_VAL;
  for (int i = kCandidates; i > kCandidates / 4; --i) {
    const double share = static_cast<double>(i) / kCandidates;
    const ValueRange range{whole.least * share, whole.greatest * share};
    double score = 0;
    if (by_divergence) {
      const auto bin_of = [&](double value) {
        const double bin = std::round((value - histogram.range.least) / histogram.width());
        return static_cast<size_t>(std::clamp(bin, 0.0, static_cast<double>(histogram.counts.size())));
      };
      const size_t begin = bin_of(range.least);
      const size_t end = bin_of(range.greatest);
      if (end < begin + kLevels) break;
      score = Divergence(histogram, begin, end);
    } else {
      score = SquaredError(histogram, range);
    }
    if (score >= least) continue;
    least = score;
    best = range;
  }
  return best;
}

}  // namespace

ValueRange ChooseRange(const ValueHistogram& histogram, CalibrationMethod method, double percent) {
  if (histogram.counts.empty() || histogram.width() <= 0) return WithZero(histogram.range);
  switch (method) {
    case CalibrationMethod::kMinMax: return WithZero(histogram.range);
    case CalibrationMethod::kPercentile: return PercentileRange(histogram, percent);
    case CalibrationMethod::kMse: return BestShare(histogram, false);
    case CalibrationMethod::kEntropy: return BestShare(histogram, true);
  }
  return histogram.range;
}

RangeObserver::RangeObserver(const std::vector<const Var*>& vars) : histograms_(vars.size()), is_seen_(vars.size()) {
  for (size_t i = 0; i < vars.size(); ++i) by_var_.try_emplace(vars[i], i);
}

void RangeObserver::BeginHistograms() {
  counts_ = true;
  for (ValueHistogram& histogram : histograms_) histogram.counts.assign(kBins, 0);
}

const ValueHistogram* RangeObserver::Find(const Var* var) const {
  const auto* index = by_var_.Find(var);
  return index && is_seen_[*index] ? &histograms_[*index] : nullptr;
}

void RangeObserver::OnBinding(const Function&, const Var& var, const HostValue& value) {
  const auto* index = by_var_.Find(&var);
  const auto* tensor = std::get_if<Tensor>(&value.state);
  if (index == nullptr || tensor == nullptr || (*tensor)->dtype() != DataType::Float(32)) return;
  ValueHistogram& histogram = histograms_[*index];
  ValueRange& range = histogram.range;
  const double width = counts_ ? histogram.width() : 0;
  for (const float element : (*tensor)->As<float>()) {
    const auto number = static_cast<double>(element);
    if (!std::isfinite(number)) continue;
    if (counts_) {
      // Integers stand for zeros without an error, however many there are.
      if (number == 0) continue;
      const double bin = width > 0 ? (number - range.least) / width : 0;
      ++histogram.counts[static_cast<size_t>(std::clamp(bin, 0.0, static_cast<double>(kBins - 1)))];
      continue;
    }
    if (!is_seen_[*index]) range = {number, number};
    is_seen_[*index] = true;
    range.least = std::min(range.least, number);
    range.greatest = std::max(range.greatest, number);
  }
}

}  // namespace iropt
