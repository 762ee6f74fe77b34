#include "iropt/ir/narrow_float.h"

#include <algorithm>
#include <vector>

#include "catch.h"

namespace iropt {
namespace {

// The value of a code by the definition of the format: (-1)^s * 2^(e - bias) * 1.m, or subnormal.
double ByDefinition(uint32_t code, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t exponent = code >> mantissa_bits & ((1u << exponent_bits) - 1);
  const double fraction =
      static_cast<double>(code & ((1u << mantissa_bits) - 1)) / static_cast<double>(1u << mantissa_bits);
  const double magnitude = exponent == 0 ? fraction * std::pow(2.0, 1 - bias)
                                         : (1 + fraction) * std::pow(2.0, static_cast<int>(exponent) - bias);
  return code >> (exponent_bits + mantissa_bits) ? -magnitude : magnitude;
}

template <class F>
void CheckFormat(int exponent_bits, int mantissa_bits, uint32_t num_finite) {
  const uint32_t sign = 1u << (exponent_bits + mantissa_bits);
  for (uint32_t code = 0; code < num_finite; ++code) {
    for (const uint32_t full : {code, code | sign}) {
      const F number = F::FromBits(static_cast<typename F::Bits>(full));
      const double value = ByDefinition(full, exponent_bits, mantissa_bits);
      REQUIRE(static_cast<double>(static_cast<float>(number)) == value);
      REQUIRE(F(value).bits() == full);
    }
    if (code + 1 == num_finite) break;
    // Between two neighbours: the nearer one, and of a tie the even code.
    const double low = ByDefinition(code, exponent_bits, mantissa_bits);
    const double high = ByDefinition(code + 1, exponent_bits, mantissa_bits);
    const double middle = (low + high) / 2;
    REQUIRE(F(middle).bits() == (code % 2 == 0 ? code : code + 1));
    REQUIRE(F(std::nextafter(middle, low)).bits() == code);
    REQUIRE(F(std::nextafter(middle, high)).bits() == code + 1);
  }
}

}  // namespace

TEST_CASE("narrow floats: every number and every tie", "[eval]") {
  CheckFormat<Float16>(5, 10, 0x7c00);
  CheckFormat<BFloat16>(8, 7, 0x7f80);
  CheckFormat<Float8E4M3>(4, 3, 0x7f);
  CheckFormat<Float8E5M2>(5, 2, 0x7c);
}

TEST_CASE("narrow floats: overflow, infinities and NaN", "[eval]") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(Float16(65504.0).bits() == 0x7bff);
  CHECK(Float16(65519.99).bits() == 0x7bff);
  CHECK(Float16(65520.0).bits() == 0x7c00);
  CHECK(Float16(-1e300).bits() == 0xfc00);
  CHECK(std::isinf(static_cast<float>(Float16(inf))));
  CHECK(std::isnan(static_cast<float>(Float16(std::nan("")))));
  CHECK(std::isnan(static_cast<float>(BFloat16(std::nan("")))));
  CHECK(static_cast<float>(BFloat16(3.0e38)) < 3.1e38F);
  CHECK(std::isinf(static_cast<float>(BFloat16(3.4e38))));
  CHECK(std::isnan(static_cast<float>(Float8E4M3(inf))));
  CHECK(std::isnan(static_cast<float>(Float8E4M3(465.0))));
  CHECK(static_cast<float>(Float8E4M3(464.0)) == 448.0F);
  CHECK(std::isinf(static_cast<float>(Float8E5M2(inf))));
}

TEST_CASE("narrow floats: zeros keep their sign, tiny numbers become zero", "[eval]") {
  CHECK(Float16(0.0).bits() == 0);
  CHECK(Float16(-0.0).bits() == 0x8000);
  CHECK(Float16(-1e-300).bits() == 0x8000);
  CHECK(Float16(std::ldexp(1.0, -25)).bits() == 0);
  CHECK(Float16(std::nextafter(std::ldexp(1.0, -25), 1.0)).bits() == 1);
  CHECK(Float16(std::numeric_limits<double>::denorm_min()).bits() == 0);
}

}  // namespace iropt
