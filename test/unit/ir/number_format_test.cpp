#include "iropt/ir/number_format.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "catch.h"
#include "iropt/ir/narrow_element.h"
#include "iropt/ir/narrow_float.h"

namespace iropt {

namespace {

// Random floats of all magnitudes, numbers of the format and those halfway between two of them.
std::vector<float> SampleFloats(const NumberFormat& format) {
  std::mt19937 random(7);
  std::vector<float> numbers = {0.0F, -0.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max(),
                                std::numeric_limits<float>::denorm_min()};
  for (int i = 0; i < 20000; ++i) {
    const auto number = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(number)) numbers.push_back(number);
  }
  if (format.mantissa_bits > 10 || format.is_integer()) return numbers;
  for (int code = 0; code + 1 < format.special; ++code) {
    const double low = MagnitudeOf(code, format);
    const double high = MagnitudeOf(code + 1, format);
    for (const double number : {low, (low + high) / 2, high}) {
      const auto single = static_cast<float>(number);
      for (const float near : {single, std::nextafter(single, 0.0F), std::nextafter(single, 1e30F)}) {
        numbers.push_back(near);
        numbers.push_back(-near);
      }
    }
  }
  return numbers;
}

bool SameFloat(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

template <class T>
void CheckAgainst(std::string_view name) {
  const NumberFormat& format = *FormatNamed(name);
  const std::vector<float> in = SampleFloats(format);
  std::vector<float> out(in.size());
  RoundTo(format, in, out.data());
  for (size_t i = 0; i < in.size(); ++i) {
    const auto expected = static_cast<float>(T(static_cast<double>(in[i])));
    if (!SameFloat(out[i], expected)) FAIL(name << ": " << in[i] << " gives " << out[i] << ", expected " << expected);
    if (std::isfinite(in[i])) CHECK_FALSE(Overflows(static_cast<double>(in[i]), format) == std::isfinite(expected));
  }
}

}  // namespace

TEST_CASE("rounding to a format gives what the conversion of an element gives") {
  CheckAgainst<Float16>("float16");
  CheckAgainst<BFloat16>("bfloat16");
  CheckAgainst<Float8E4M3>("float8_e4m3fn");
  CheckAgainst<Float8E5M2>("float8_e5m2");
}

TEST_CASE("rounding to a format that is only stored gives what storing gives") {
  for (const NumberFormat& format : NumberFormats()) {
    if (format.is_integer() || format.block != 0 || format.dtype.bits > 8) continue;
    const std::vector<float> in = SampleFloats(format);
    std::vector<float> out(in.size());
    RoundTo(format, in, out.data());
    for (size_t i = 0; i < in.size(); ++i) {
      const std::byte code = StoreNarrow(static_cast<double>(in[i]), format.dtype, {.saturates = false});
      const auto expected = static_cast<float>(LoadNarrow(code, format.dtype));
      const bool same = out[i] == expected || (std::isnan(out[i]) && std::isnan(expected));
      if (!same) FAIL(format.name << ": " << in[i] << " gives " << out[i] << ", expected " << expected);
    }
  }
}

TEST_CASE("formats have names and limits") {
  const NumberFormat& half = *FormatNamed("fp16");
  CHECK(half.dtype == DataType::Float(16));
  CHECK(GreatestOf(half) == 65504);
  CHECK(LeastNormalOf(half) == 0x1p-14);
  CHECK(LeastPositiveOf(half) == 0x1p-24);
  CHECK(UnitRoundoff(half) == 0x1p-11);
  CHECK(Overflows(65520, half));
  CHECK_FALSE(Overflows(65519, half));
  CHECK(GreatestOf(*FormatNamed("float32")) == static_cast<double>(std::numeric_limits<float>::max()));
  CHECK(LeastOf(*FormatNamed("int8")) == -128);
  CHECK(GreatestOf(*FormatNamed("uint4")) == 15);
  CHECK(FormatOfDType(DataType::Float(64)) == nullptr);
  CHECK(FormatNamed("") == nullptr);
  CHECK(FormatNamed("float17") == nullptr);
}

TEST_CASE("integers are rounded to even and saturate") {
  const std::vector<float> in = {0.5F, 1.5F, -2.5F, 200, -200};
  std::vector<float> out(in.size());
  RoundTo(*FormatNamed("int8"), in, out.data());
  CHECK(out == std::vector<float>{0, 2, -2, 127, -128});
}

TEST_CASE("the elements of a block share a power of two") {
  // The greatest magnitude is 6 * 2^3, and a step is at least 0.5 * 2^3 there.
  std::vector<float> in(32, 1.0F);
  in[5] = 48;
  in[6] = -5;
  std::vector<float> out(in.size());
  RoundTo(*FormatNamed("mxfp4"), in, out.data());
  CHECK(out[5] == 48);
  CHECK(out[6] == -4);
  CHECK(out[0] == 0);
  // A block of its own keeps small numbers.
  const std::vector<float> small(32, 1e-6F);
  std::vector<float> kept(small.size());
  RoundTo(*FormatNamed("mxfp8"), small, kept.data());
  CHECK(std::abs(kept[0] - 1e-6F) < 1e-7F);
}

}  // namespace iropt
