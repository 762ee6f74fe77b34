#include <algorithm>
#include <optional>

#include "cpu_facts.h"
#include "iropt/schedule/winograd.h"

namespace iropt::schedule {

namespace {

// Of a processor that multiplies and adds two vectors of 256 bits in a cycle, or one of 512 bits. What a convolution
// reads and writes comes from its second cache or the one after it, weights of a model come from memory.
constexpr int64_t kMostProducts = 16;                     // of floats, in a cycle
constexpr double kBytesOfData = 12, kBytesOfWeights = 5;  // in a cycle
constexpr double kBytesOfElement = 4;

double CostOfProducts(double products, double weights, int64_t lanes) {
  const auto in_cycle = static_cast<double>(std::min(2 * lanes, kMostProducts));
  return products / in_cycle + weights * kBytesOfElement / kBytesOfWeights;
}

double CostOfSums(const ConvSize& size, int64_t lanes) {
  constexpr double kKernel = 9;
  const double weights = kKernel * static_cast<double>(size.in_channels) * static_cast<double>(size.out_channels);
  const double pixels =
      static_cast<double>(size.batch) * static_cast<double>(size.height) * static_cast<double>(size.width);
  return CostOfProducts(weights * pixels, weights, lanes);
}

// The transformed data and the products are written and read once. Nothing if they do not fit into the last cache.
std::optional<double> CostOfTiles(const ConvSize& size, int64_t tile, int64_t lanes) {
  constexpr double kBytesOfCache = 1 << 25;
  const int64_t rows = (size.height + tile - 1) / tile;
  const int64_t columns = (size.width + tile - 1) / tile;
  const double tiles = static_cast<double>(size.batch) * static_cast<double>(rows) * static_cast<double>(columns);
  const auto points = static_cast<double>((tile + 2) * (tile + 2));
  const auto inputs = static_cast<double>(size.in_channels);
  const auto outputs = static_cast<double>(size.out_channels);
  const double bytes = points * tiles * (inputs + outputs) * kBytesOfElement;
  if (bytes > kBytesOfCache) return std::nullopt;
  const double weights = points * inputs * outputs;
  return CostOfProducts(weights * tiles, weights, lanes) + 2 * bytes / kBytesOfData;
}

}  // namespace

int64_t ChooseWinogradTile(const ConvSize& size, const TargetAttr* target) {
  constexpr double kLeastGain = 1.25;
  if (!target || !IsCpu(target)) return 0;
  const int64_t lanes = CpuFactsOf(target).LanesOf(DataType::Float(32));
  // The transforms need full vectors.
  if (size.in_channels % lanes != 0 || size.out_channels % lanes != 0) return 0;
  int64_t best = 0;
  double best_cost = CostOfSums(size, lanes) / kLeastGain;
  for (const int64_t tile : {2, 4}) {
    const auto cost = CostOfTiles(size, tile, lanes);
    if (!cost || *cost >= best_cost) continue;
    best = tile;
    best_cost = *cost;
  }
  return best;
}

}  // namespace iropt::schedule
