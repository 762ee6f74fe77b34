#include "iropt/precision/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "iropt/ir/element.h"
#include "precision/float_elements.h"

namespace iropt::precision {

void ValueRecord::Add(const NDArray& tensor) {
  ForEachPiece(tensor, [this](std::span<const float> piece) {
    num_elements += std::ssize(piece);
    // Several sums at a time, which compilers vectorize.
    constexpr size_t kLanes = 8;
    std::array<double, kLanes> sums{}, squares{};
    float low = std::numeric_limits<float>::infinity();
    float high = -low;
    int64_t nans = 0, infinities = 0, zeros = 0;
    const auto look = [&](float element, size_t lane) {
      const uint32_t magnitude = std::bit_cast<uint32_t>(element) & 0x7fffffffU;
      const bool is_finite = magnitude < 0x7f800000U;
      nans += magnitude > 0x7f800000U ? 1 : 0;
      infinities += magnitude == 0x7f800000U ? 1 : 0;
      zeros += magnitude == 0 ? 1 : 0;
      const float number = is_finite ? element : 0.0F;
      low = is_finite && element < low ? element : low;
      high = is_finite && element > high ? element : high;
      sums[lane] += static_cast<double>(number);
      squares[lane] += static_cast<double>(number) * static_cast<double>(number);
    };
    size_t i = 0;
    for (; i + kLanes <= piece.size(); i += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) look(piece[i + lane], lane);
    }
    for (; i < piece.size(); ++i) look(piece[i], 0);
    num_nans += nans;
    num_infinities += infinities;
    num_zeros += zeros;
    least = std::min(least, static_cast<double>(low));
    greatest = std::max(greatest, static_cast<double>(high));
    sum = std::accumulate(sums.begin(), sums.end(), sum);
    sum_squares = std::accumulate(squares.begin(), squares.end(), sum_squares);
    histogram.Add(piece);
  });
}

double ValueRecord::GreatestMagnitude() const {
  return num_finite() == 0 ? 0 : std::max(std::abs(least), std::abs(greatest));
}

double ValueRecord::Mean() const { return num_finite() == 0 ? 0 : sum / static_cast<double>(num_finite()); }

double ValueRecord::RootMeanSquare() const {
  return num_finite() == 0 ? 0 : std::sqrt(sum_squares / static_cast<double>(num_finite()));
}

uint64_t ValueRecord::NumOverflows(const NumberFormat& format) const {
  if (num_finite() == 0 || (!Overflows(least, format) && !Overflows(greatest, format))) return 0;
  return std::max<uint64_t>(histogram.CountFrom(GreatestOf(format)), 1);
}

uint64_t ValueRecord::NumFlushed(const NumberFormat& format) const {
  return histogram.CountBelow(LeastPositiveOf(format) / 2);
}

uint64_t ValueRecord::NumSubnormal(const NumberFormat& format) const {
  return histogram.CountBelow(LeastNormalOf(format));
}

const ValueRecord* Recording::Find(const Var& var, uint32_t leaf) const {
  const auto* leaves = by_var_.Find(&var);
  if (!leaves || leaf >= leaves->size() || (*leaves)[leaf] == SIZE_MAX) return nullptr;
  return &entries_[(*leaves)[leaf]].record;
}

void Recording::Add(const Var& var, const HostValue& value) {
  uint32_t leaf = 0;
  ForEachTensor(value, [&](const Tensor& tensor) {
    const uint32_t number = leaf++;
    if (!tensor->dtype().is_floating() || !IsElementType(tensor->dtype())) return;
    std::vector<size_t>& leaves = by_var_[&var];
    if (leaves.size() <= number) leaves.resize(number + size_t{1}, SIZE_MAX);
    if (leaves[number] == SIZE_MAX) {
      leaves[number] = entries_.size();
      entries_.push_back({&var, number, {}});
    }
    entries_[leaves[number]].record.Add(*tensor);
  });
}

void Recorder::AddInputs(const Function& function, std::span<const HostValue> args) {
  for (size_t i = 0; i < args.size() && i < function.params.size(); ++i)
    recording_.Add(*function.params[static_cast<uint32_t>(i)], args[i]);
}

void Recorder::OnBinding(const Function& /*function*/, const Var& var, const HostValue& value) {
  recording_.Add(var, value);
}

void Recorder::OnCall(CalleeKind /*kind*/, std::string_view /*callee*/, double /*seconds*/) {}

std::string DescribeRange(const ValueRecord& record) {
  if (record.num_finite() == 0) return "no finite elements";
  return fmt::format("{:.3g} to {:.3g}", record.least, record.greatest);
}

}  // namespace iropt::precision
