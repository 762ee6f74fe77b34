#include "iropt/ir/number_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace iropt {

namespace {

constexpr DataType Narrow(TypeCode code, int bits) { return DataType::Make(code, bits, 1); }

// clang-format off
constexpr NumberFormat kFormats[] = {
    {.name = "float32", .alias = "fp32", .dtype = DataType::Float(32), .mantissa_bits = 23, .bias = 127, .special = 0x7f800000, .infinity = 0x7f800000, .nan = 0x7fc00000},
    {.name = "float16", .alias = "fp16", .dtype = DataType::Float(16), .mantissa_bits = 10, .bias = 15, .special = 0x7c00, .infinity = 0x7c00, .nan = 0x7e00},
    {.name = "bfloat16", .alias = "bf16", .dtype = DataType::BFloat(16), .mantissa_bits = 7, .bias = 127, .special = 0x7f80, .infinity = 0x7f80, .nan = 0x7fc0},
    {.name = "float8_e4m3fn", .alias = "fp8", .dtype = Narrow(TypeCode::kFloat8E4M3, 8), .mantissa_bits = 3, .bias = 7, .special = 0x7f, .infinity = 0, .nan = 0x7f},
    {.name = "float8_e5m2", .alias = "", .dtype = Narrow(TypeCode::kFloat8E5M2, 8), .mantissa_bits = 2, .bias = 15, .special = 0x7c, .infinity = 0x7c, .nan = 0x7e},
    {.name = "float8_e3m4", .alias = "", .dtype = Narrow(TypeCode::kFloat8E3M4, 8), .mantissa_bits = 4, .bias = 3, .special = 0x70, .infinity = 0x70, .nan = 0x78},
    {.name = "float8_e4m3", .alias = "", .dtype = Narrow(TypeCode::kFloat8E4M3Ieee, 8), .mantissa_bits = 3, .bias = 7, .special = 0x78, .infinity = 0x78, .nan = 0x7c},
    {.name = "float8_e4m3b11fnuz", .alias = "", .dtype = Narrow(TypeCode::kFloat8E4M3B11Fnuz, 8), .mantissa_bits = 3, .bias = 11, .special = 0x80, .infinity = 0, .nan = 0x80, .has_negative_zero = false},
    {.name = "float8_e4m3fnuz", .alias = "", .dtype = Narrow(TypeCode::kFloat8E4M3Fnuz, 8), .mantissa_bits = 3, .bias = 8, .special = 0x80, .infinity = 0, .nan = 0x80, .has_negative_zero = false},
    {.name = "float8_e5m2fnuz", .alias = "", .dtype = Narrow(TypeCode::kFloat8E5M2Fnuz, 8), .mantissa_bits = 2, .bias = 16, .special = 0x80, .infinity = 0, .nan = 0x80, .has_negative_zero = false},
    {.name = "float4_e2m1fn", .alias = "fp4", .dtype = Narrow(TypeCode::kFloat4E2M1, 4), .mantissa_bits = 1, .bias = 1, .special = 0x08},
    {.name = "mxfp8", .alias = "", .dtype = Narrow(TypeCode::kFloat8E4M3, 8), .mantissa_bits = 3, .bias = 7, .special = 0x7f, .infinity = 0, .nan = 0x7f, .block = 32},
    {.name = "mxfp4", .alias = "", .dtype = Narrow(TypeCode::kFloat4E2M1, 4), .mantissa_bits = 1, .bias = 1, .special = 0x08, .block = 32},
    {.name = "int8", .alias = "", .dtype = DataType::Int(8), .accumulator = DataType::Int(32)},
    {.name = "uint8", .alias = "", .dtype = DataType::UInt(8), .accumulator = DataType::Int(32)},
    {.name = "int16", .alias = "", .dtype = DataType::Int(16), .accumulator = DataType::Int(32)},
    {.name = "uint16", .alias = "", .dtype = DataType::UInt(16), .accumulator = DataType::Int(32)},
    {.name = "int32", .alias = "", .dtype = DataType::Int(32), .accumulator = DataType::Int(32)},
    {.name = "uint32", .alias = "", .dtype = DataType::UInt(32), .accumulator = DataType::Int(32)},
    {.name = "int4", .alias = "", .dtype = DataType::Int(4), .accumulator = DataType::Int(32)},
    {.name = "uint4", .alias = "", .dtype = DataType::UInt(4), .accumulator = DataType::Int(32)},
};
// clang-format on

// The least magnitude that is not rounded to a finite number, unless it is a tie that goes down.
double OverflowBound(const NumberFormat& format) {
  return (MagnitudeOf(format.special - 1, format) + MagnitudeOf(format.special, format)) / 2;
}

// Rounds floats by their bits. The loop has no branches, so that compilers vectorize it.
void RoundFloats(const NumberFormat& format, std::span<const float> in, float* out, bool saturates) {
  const int cut = 23 - format.mantissa_bits;
  const uint32_t half_below = cut == 0 ? 0 : (uint32_t{1} << (cut - 1)) - 1;
  const uint32_t kept = ~((uint32_t{1} << cut) - 1);
  const auto least_normal = static_cast<float>(LeastNormalOf(format));
  // The sum with it has its last bit at the least positive number.
  const auto magic = static_cast<float>(std::ldexp(LeastPositiveOf(format), 23));
  const auto greatest = static_cast<float>(GreatestOf(format));
  const double bound = OverflowBound(format);
  const bool tie_overflows = (format.special - 1) % 2 != 0;
  // Formats of the range of float32 overflow only by rounding up to infinity.
  const auto first_beyond = tie_overflows
                                ? static_cast<float>(bound)
                                : std::nextafter(static_cast<float>(bound), std::numeric_limits<float>::infinity());
  float beyond =
      format.infinity != 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  if (saturates || format.nan == 0) beyond = greatest;
  for (size_t i = 0; i < in.size(); ++i) {
    const auto bits = std::bit_cast<uint32_t>(in[i]);
    const uint32_t sign = bits & 0x80000000U;
    const float magnitude = std::bit_cast<float>(bits & 0x7fffffffU);
    const uint32_t raw = bits & 0x7fffffffU;
    const uint32_t rounded = cut == 0 ? raw : (raw + half_below + (raw >> cut & 1)) & kept;
    const float tiny = (magnitude + magic) - magic;
    float result = magnitude < least_normal ? tiny : std::bit_cast<float>(rounded);
    result = magnitude >= first_beyond ? beyond : result;
    result = magnitude != magnitude ? magnitude : result;
    out[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(result) | sign);
  }
}

void RoundIntegers(const NumberFormat& format, std::span<const float> in, float* out) {
  const auto least = static_cast<float>(LeastOf(format));
  const auto most = static_cast<float>(GreatestOf(format));
  std::ranges::transform(in, out, [&](float x) { return std::clamp(std::nearbyint(x), least, most); });
}

// The scale makes the greatest magnitude of a block have the greatest exponent of the elements.
void RoundBlock(const NumberFormat& format, std::span<const float> in, float* out) {
  float greatest = 0;
  for (const float x : in) greatest = std::max(greatest, std::abs(x));
  if (greatest == 0 || !std::isfinite(greatest)) {
    std::ranges::copy(in, out);
    return;
  }
  const int exponent = std::clamp(std::ilogb(greatest) - std::ilogb(GreatestOf(format)), -126, 127);
  const float down = std::ldexp(1.0F, -exponent);
  std::ranges::transform(in, out, [&](float x) { return x * down; });
  const std::span<float> scaled(out, in.size());
  RoundFloats(format, scaled, out, /*saturates=*/true);
  for (float& x : scaled) x = std::ldexp(x, exponent);
}

}  // namespace

std::span<const NumberFormat> NumberFormats() { return kFormats; }

const NumberFormat* FormatOfDType(DataType dtype) {
  const auto* found = std::ranges::find_if(
      kFormats, [&](const NumberFormat& format) { return format.dtype == dtype && format.block == 0; });
  return found == std::end(kFormats) ? nullptr : found;
}

const NumberFormat* FormatNamed(std::string_view name) {
  const auto* found = std::ranges::find_if(kFormats, [&](const NumberFormat& format) {
    return format.name == name || (!name.empty() && format.alias == name);
  });
  return found == std::end(kFormats) ? nullptr : found;
}

double MagnitudeOf(int code, const NumberFormat& format) {
  const int mantissa = code & ((1 << format.mantissa_bits) - 1);
  const int exponent = code >> format.mantissa_bits;
  const int whole = exponent == 0 ? mantissa : mantissa + (1 << format.mantissa_bits);
  return std::ldexp(whole, std::max(exponent, 1) - format.bias - format.mantissa_bits);
}

double GreatestOf(const NumberFormat& format) {
  if (!format.is_integer()) return MagnitudeOf(format.special - 1, format);
  return std::ldexp(1.0, format.dtype.bits - (format.dtype.is_int() ? 1 : 0)) - 1;
}

double LeastOf(const NumberFormat& format) {
  if (!format.is_integer()) return -GreatestOf(format);
  return format.dtype.is_int() ? -std::ldexp(1.0, format.dtype.bits - 1) : 0;
}

double LeastNormalOf(const NumberFormat& format) { return format.is_integer() ? 1 : std::ldexp(1.0, 1 - format.bias); }

double LeastPositiveOf(const NumberFormat& format) {
  return format.is_integer() ? 1 : std::ldexp(1.0, 1 - format.bias - format.mantissa_bits);
}

double UnitRoundoff(const NumberFormat& format) {
  return format.is_integer() ? 0.5 : std::ldexp(1.0, -format.mantissa_bits - 1);
}

bool Overflows(double number, const NumberFormat& format) {
  if (!std::isfinite(number)) return false;
  if (format.is_integer()) {
    const double rounded = std::nearbyint(number);
    return rounded < LeastOf(format) || rounded > GreatestOf(format);
  }
  const double bound = OverflowBound(format);
  const bool tie_overflows = (format.special - 1) % 2 != 0;
  return tie_overflows ? std::abs(number) >= bound : std::abs(number) > bound;
}

void RoundTo(const NumberFormat& format, std::span<const float> in, float* out) {
  if (format.is_integer()) return RoundIntegers(format, in, out);
  if (format.block == 0) return RoundFloats(format, in, out, /*saturates=*/false);
  const auto block = static_cast<size_t>(format.block);
  for (size_t first = 0; first < in.size(); first += block)
    RoundBlock(format, in.subspan(first, std::min(block, in.size() - first)), out + first);
}

}  // namespace iropt
