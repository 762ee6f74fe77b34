#include "iropt/precision/log_histogram.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

namespace iropt::precision {

void LogHistogram::Half::Add(const uint64_t* bins) {
  size_t begin = 0;
  while (begin < kBins && bins[begin] == 0) ++begin;
  if (begin == kBins) return;
  size_t end = kBins;
  while (bins[end - 1] == 0) --end;
  if (counts.empty()) {
    first = begin;
    counts.resize(end - begin);
  }
  if (begin < first) {
    counts.insert(counts.begin(), first - begin, 0);
    first = begin;
  }
  if (end > first + counts.size()) counts.resize(end - first);
  for (size_t bin = begin; bin < end; ++bin) counts[bin - first] += bins[bin];
}

void LogHistogram::Add(std::span<const float> numbers) {
  // Zeros, infinities and NaNs are counted, too, and left out at the end. Two tables, because neighbouring numbers are
  // often of one bin, and each count would wait for the one before it.
  std::vector<uint64_t> bins(2 * kBins), others(2 * kBins);
  uint64_t zeros_of_sign[2] = {0, 0};
  const auto count = [&](float number, std::vector<uint64_t>& table) {
    const auto bits = std::bit_cast<uint32_t>(number);
    ++table[bits >> kShift];
    zeros_of_sign[bits >> 31] += (bits << 1) == 0 ? 1 : 0;
  };
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
    count(numbers[i], bins);
    count(numbers[i + 1], others);
  }
  if (numbers.size() % 2 != 0) count(numbers.back(), bins);
  std::ranges::transform(bins, others, bins.begin(), std::plus<>());
  constexpr size_t kFirstSpecial = size_t{0x7f800000U >> kShift};
  for (size_t sign = 0; sign < 2; ++sign) {
    uint64_t* half = bins.data() + sign * kBins;
    half[0] -= zeros_of_sign[sign];
    std::fill(half + kFirstSpecial, half + kBins, 0);
    for (size_t bin = 0; bin < kFirstSpecial; ++bin) total_ += half[bin];
    halves_[sign].Add(half);
  }
}

double LogHistogram::LowOf(size_t bin) {
  const auto bits = static_cast<uint32_t>(bin << kShift);
  const auto special = uint32_t{0x7f800000U};
  if (bits >= special) return static_cast<double>(std::numeric_limits<float>::max()) * 2;
  return static_cast<double>(std::bit_cast<float>(bits));
}

void LogHistogram::ForEachBin(FunctionRef<void(double low, double high, uint64_t count)> f) const {
  const Half& negative = halves_[1];
  for (size_t i = negative.counts.size(); i-- > 0;) {
    const size_t bin = negative.first + i;
    if (negative.counts[i] != 0) f(-LowOf(bin + 1), -LowOf(bin), negative.counts[i]);
  }
  const Half& positive = halves_[0];
  for (size_t i = 0; i < positive.counts.size(); ++i) {
    const size_t bin = positive.first + i;
    if (positive.counts[i] != 0) f(LowOf(bin), LowOf(bin + 1), positive.counts[i]);
  }
}

uint64_t LogHistogram::CountBelow(double magnitude) const {
  uint64_t count = 0;
  for (const Half& half : halves_) {
    for (size_t i = 0; i < half.counts.size(); ++i) {
      const size_t bin = half.first + i;
      if ((LowOf(bin) + LowOf(bin + 1)) / 2 <= magnitude) count += half.counts[i];
    }
  }
  return count;
}

double LogHistogram::Percentile(double part) const {
  if (total_ == 0) return 0;
  const double wanted = part * static_cast<double>(total_);
  uint64_t count = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    const uint64_t in_bin = halves_[0].At(bin) + halves_[1].At(bin);
    if (in_bin == 0) continue;
    if (static_cast<double>(count + in_bin) >= wanted) {
      const double inside = (wanted - static_cast<double>(count)) / static_cast<double>(in_bin);
      return LowOf(bin) + std::clamp(inside, 0.0, 1.0) * (LowOf(bin + 1) - LowOf(bin));
    }
    count += in_bin;
  }
  return LowOf(kBins);
}

}  // namespace iropt::precision
