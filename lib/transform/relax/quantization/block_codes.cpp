// Source: the ranges are those of onnxruntime's quantizers of blocks.
#include "block_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "iropt/ir/narrow_float.h"

namespace iropt {

namespace {

template <class T>
float RoundedTo(float value, float least) {
  const auto rounded = static_cast<float>(T(static_cast<double>(value)));
  return rounded == 0 ? std::copysign(least, value) : rounded;
}

// The scale in its dtype; never zero, so that quotients are finite.
float RoundedScale(float scale, DataType dtype) {
  if (dtype == DataType::Float(16)) return RoundedTo<Float16>(scale, std::ldexp(1.0F, -24));
  if (dtype == DataType::BFloat(16)) return RoundedTo<BFloat16>(scale, std::numeric_limits<float>::min());
  return std::abs(scale) < std::numeric_limits<float>::min() ? std::copysign(std::numeric_limits<float>::min(), scale)
                                                             : scale;
}

}  // namespace

BlockScale ScaleOf(std::span<const float> numbers, const BlockFormat& format) {
  // In lanes, which compilers turn into vectors.
  constexpr size_t kLanes = 8;
  std::array<float, kLanes> below_zero = {};
  std::array<float, kLanes> above_zero = {};
  const auto take = [&](size_t lane, float number) {
    below_zero[lane] = number < below_zero[lane] ? number : below_zero[lane];
    above_zero[lane] = number > above_zero[lane] ? number : above_zero[lane];
  };
  size_t i = 0;
  for (; i + kLanes <= numbers.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) take(lane, numbers[i + lane]);
  }
  for (; i < numbers.size(); ++i) take(0, numbers[i]);
  const float least = std::ranges::min(below_zero);
  const float greatest = std::ranges::max(above_zero);
  if (least == 0 && greatest == 0) return {.scale = 1, .zero = format.symmetric ? format.middle() : 0};
  if (!format.symmetric) {
    const auto steps = static_cast<float>(format.levels() - 1);
    const double step = (static_cast<double>(greatest) - static_cast<double>(least)) / static_cast<double>(steps);
    const float scale = RoundedScale(static_cast<float>(step), format.scale_dtype);
    const float zero = std::clamp(std::nearbyint(-least / scale), 0.0F, steps);
    return {.scale = scale, .zero = static_cast<int>(zero)};
  }
  const auto below = static_cast<float>(format.middle());
  const auto above = static_cast<float>(format.middle() - 1);
  float scale = 0;
  if (format.negative_scales) {
    scale = (-least > greatest ? least : greatest) / -below;
  } else {
    // Eight bits leave out the least integer, as kernels expect of weights.
    scale = std::max(greatest / above, -least / (format.bits == 8 ? above : below));
  }
  return {.scale = RoundedScale(scale, format.scale_dtype), .zero = format.middle()};
}

void CodesOf(std::span<const float> numbers, const BlockScale& scale, const BlockFormat& format, uint8_t* codes) {
  const bool is_narrow = format.symmetric && !format.negative_scales && format.bits == 8;
  const auto least = static_cast<float>(is_narrow ? 1 : 0);
  const auto greatest = static_cast<float>(format.levels() - 1);
  const auto zero = static_cast<float>(scale.zero);
  // Adding it rounds floats of few bits to integers, ties to even.
  constexpr float kRounding = 12582912.0F;  // 1.5 * 2^23
  for (size_t i = 0; i < numbers.size(); ++i) {
    const float code = (numbers[i] / scale.scale + kRounding) - kRounding + zero;
    codes[i] = static_cast<uint8_t>(static_cast<int>(std::min(std::max(code, least), greatest)));
  }
}

}  // namespace iropt
