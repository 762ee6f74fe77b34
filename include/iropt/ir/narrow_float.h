// Floating point formats of 16 and 8 bits, which hosts have no arithmetic for: conversion from and to float. Arithmetic
// is done in float, or double, and rounded once per operation; for + - * / and sqrt that gives the correctly rounded
// result, because float has more than twice the precision of each of these formats.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace iropt {

// The meaning of the codes with the highest exponent.
enum class FloatSpecials : uint8_t {
  kIeee,     // infinities and NaNs
  kNanOnly,  // numbers, except for the one code of NaN with all bits set (the "fn" formats); overflow makes NaN
};

// A number stored in 1 + kExponentBits + kMantissaBits bits.
template <int kExponentBits, int kMantissaBits, FloatSpecials kSpecials>
class NarrowFloat {
 public:
  using Bits = std::conditional_t<(1 + kExponentBits + kMantissaBits > 8), uint16_t, uint8_t>;

  constexpr NarrowFloat() = default;
  // Rounds to nearest, ties to even. A float converts to double without loss, so this is the only rounding.
  explicit NarrowFloat(double value) : bits_(Round(value)) {}
  static constexpr NarrowFloat FromBits(Bits bits) {
    NarrowFloat result;
    result.bits_ = bits;
    return result;
  }

  constexpr Bits bits() const { return bits_; }
  explicit operator float() const { return Widen(bits_); }

 private:
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kMaxExponentCode = (1 << kExponentBits) - 1;
  static constexpr uint32_t kMantissaMask = (1u << kMantissaBits) - 1;
  static constexpr int kSignShift = kExponentBits + kMantissaBits;
  static constexpr uint32_t kNan = static_cast<uint32_t>(kMaxExponentCode) << kMantissaBits |
                                   (kSpecials == FloatSpecials::kIeee ? 1u << (kMantissaBits - 1) : kMantissaMask);
  // The least code of a value that is not a finite number.
  static constexpr uint32_t kFirstSpecial =
      kSpecials == FloatSpecials::kIeee ? static_cast<uint32_t>(kMaxExponentCode) << kMantissaBits : kNan;

  static Bits Round(double value) {
    const uint64_t raw = std::bit_cast<uint64_t>(value);
    const uint32_t sign = static_cast<uint32_t>(raw >> 63) << kSignShift;
    const int exponent_code = static_cast<int>(raw >> 52 & 0x7ff);
    uint64_t mantissa = raw & ((uint64_t{1} << 52) - 1);
    if (exponent_code == 0x7ff) return static_cast<Bits>(sign | (mantissa != 0 ? kNan : kFirstSpecial));
    // A double too small to be normal is far below half of the least number of any of these formats.
    if (exponent_code == 0) return static_cast<Bits>(sign);
    mantissa |= uint64_t{1} << 52;
    const int exponent = exponent_code - 1023 + kBias;
    const int shift = 52 - kMantissaBits + (exponent <= 0 ? 1 - exponent : 0);
    if (shift > 54) return static_cast<Bits>(sign);
    const uint64_t half = uint64_t{1} << (shift - 1);
    const uint64_t rest = mantissa & ((uint64_t{1} << shift) - 1);
    uint64_t code = mantissa >> shift;
    if (rest > half || (rest == half && (code & 1) != 0)) ++code;
    // The leading one of a normal number carries into the exponent field, and so does a rounding that overflows.
    if (exponent > 0) code += static_cast<uint64_t>(exponent - 1) << kMantissaBits;
    if (code > kFirstSpecial) code = kFirstSpecial;
    return static_cast<Bits>(sign | static_cast<uint32_t>(code));
  }

  static float Widen(Bits bits) {
    const uint32_t code = bits & ((1u << kSignShift) - 1);
    const bool negative = (bits >> kSignShift & 1) != 0;
    const int exponent_code = static_cast<int>(code >> kMantissaBits);
    const uint32_t mantissa = code & kMantissaMask;
    float magnitude;
    if (code >= kFirstSpecial) {
      const bool infinite = kSpecials == FloatSpecials::kIeee && mantissa == 0;
      magnitude = infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    } else if (exponent_code == 0) {
      magnitude = std::ldexp(static_cast<float>(mantissa), 1 - kBias - kMantissaBits);
    } else {
      magnitude = std::bit_cast<float>(static_cast<uint32_t>(exponent_code - kBias + 127) << 23 |
                                       mantissa << (23 - kMantissaBits));
    }
    return negative ? -magnitude : magnitude;
  }

  Bits bits_ = 0;
};

using Float16 = NarrowFloat<5, 10, FloatSpecials::kIeee>;
using BFloat16 = NarrowFloat<8, 7, FloatSpecials::kIeee>;
using Float8E4M3 = NarrowFloat<4, 3, FloatSpecials::kNanOnly>;
using Float8E5M2 = NarrowFloat<5, 2, FloatSpecials::kIeee>;

template <class T>
inline constexpr bool kIsNarrowFloat = false;
template <int kE, int kM, FloatSpecials kS>
inline constexpr bool kIsNarrowFloat<NarrowFloat<kE, kM, kS>> = true;

}  // namespace iropt
