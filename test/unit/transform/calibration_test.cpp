// Ranges of integers by histograms. The pass is tested on programs in test/transform/quantize_static.
#include "transform/relax/quantization/calibration.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "catch.h"

namespace iropt {

namespace {

// Of normal numbers in bins up to the outlier, which is one number.
ValueHistogram NormalWithOutlier(double outlier) {
  ValueHistogram histogram{.range = {-4, outlier}, .counts = std::vector<uint64_t>(2048)};
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 100'000; ++i) {
    const double bin = (std::clamp(normal(generator), -4.0, 4.0) + 4) / histogram.width();
    ++histogram.counts[static_cast<size_t>(std::min(bin, 2047.0))];
  }
  ++histogram.counts.back();
  return histogram;
}

}  // namespace

TEST_CASE("the range of all values has zero", "[calibration]") {
  CHECK(ChooseRange({.range = {2, 5}, .counts = {}}, CalibrationMethod::kMinMax, 100).least == 0);
  CHECK(ChooseRange({.range = {-5, -2}, .counts = {}}, CalibrationMethod::kMinMax, 100).greatest == 0);
  const ValueRange range = ChooseRange(NormalWithOutlier(40), CalibrationMethod::kMinMax, 100);
  CHECK(range.least == -4);
  CHECK(range.greatest == 40);
}

TEST_CASE("percentiles cut off outliers, and not what is frequent", "[calibration]") {
  const ValueHistogram histogram = NormalWithOutlier(40);
  const ValueRange range = ChooseRange(histogram, CalibrationMethod::kPercentile, 99.9);
  CHECK(std::abs(range.greatest - 3.29) < 0.3);
  CHECK(std::abs(range.least + 3.29) < 0.3);
  CHECK(ChooseRange(histogram, CalibrationMethod::kPercentile, 100).greatest > 39);
  CHECK(ChooseRange({.range = {0, 0}, .counts = std::vector<uint64_t>(16)}, CalibrationMethod::kPercentile, 99)
            .greatest == 0);
}

TEST_CASE("the least squared error and the least divergence cut off a rare outlier", "[calibration]") {
  // 1e5 numbers gain more than the one loses. A divergence is that of the bins, so it is far off.
  for (const auto& [method, outlier] :
       {std::pair(CalibrationMethod::kMse, 12.0), std::pair(CalibrationMethod::kEntropy, 200.0)}) {
    const ValueRange cut = ChooseRange(NormalWithOutlier(outlier), method, 100);
    CHECK(cut.greatest < outlier);
    CHECK(cut.greatest > 2);
    // Numbers that fill their range need all of it.
    const ValueHistogram uniform{.range = {-1, 1}, .counts = std::vector<uint64_t>(2048, 50)};
    const ValueRange whole = ChooseRange(uniform, method, 100);
    CHECK(whole.greatest > 0.95);
    CHECK(whole.least < -0.95);
  }
}

// What chance adds to the divergence of few numbers is not taken for a gain.
TEST_CASE("the least divergence of few numbers keeps their range", "[calibration]") {
  ValueHistogram few{.range = {0, 1}, .counts = std::vector<uint64_t>(2048)};
  std::mt19937 generator(2);
  std::uniform_int_distribution<size_t> bins(0, 2047);
  for (int i = 0; i < 20'000; ++i) ++few.counts[bins(generator)];
  CHECK(ChooseRange(few, CalibrationMethod::kEntropy, 100).greatest > 0.9);
}

}  // namespace iropt
