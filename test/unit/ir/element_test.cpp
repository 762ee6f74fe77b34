#include "iropt/ir/element.h"

#include "catch.h"

namespace iropt {

TEST_CASE("elements: integers wrap around", "[eval]") {
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      const auto x = static_cast<int8_t>(a);
      const auto y = static_cast<int8_t>(b);
      REQUIRE(WrapAdd(x, y) == static_cast<int8_t>((a + b) & 0xff));
      REQUIRE(WrapSub(x, y) == static_cast<int8_t>((a - b) & 0xff));
      REQUIRE(WrapMul(x, y) == static_cast<int8_t>((a * b) & 0xff));
    }
  }
  CHECK(WrapAdd(INT64_MAX, int64_t{1}) == INT64_MIN);
  CHECK(WrapMul(INT64_MIN, int64_t{-1}) == INT64_MIN);
  CHECK(WrapMul(uint16_t{65535}, uint16_t{65535}) == 1);
  CHECK(WrapNegate(INT32_MIN) == INT32_MIN);
}

TEST_CASE("elements: quotients and rests fit together", "[eval]") {
  for (int a = -20; a <= 20; ++a) {
    for (int b = -7; b <= 7; ++b) {
      if (b == 0) continue;
      REQUIRE(TruncDiv(a, b) * b + TruncMod(a, b) == a);
      REQUIRE(FloorDiv(a, b) * b + FloorMod(a, b) == a);
      REQUIRE(FloorDiv(a, b) == static_cast<int>(std::floor(static_cast<double>(a) / b)));
      REQUIRE(TruncDiv(a, b) == static_cast<int>(std::trunc(static_cast<double>(a) / b)));
    }
  }
  CHECK(TruncDiv(INT64_MIN, int64_t{-1}) == INT64_MIN);
  CHECK(TruncMod(INT64_MIN, int64_t{-1}) == 0);
  CHECK(FloorDiv(INT32_MIN, -1) == INT32_MIN);
  CHECK(FloorMod(int8_t{-128}, int8_t{-1}) == 0);
}

TEST_CASE("elements: conversion of numbers that do not fit", "[eval]") {
  int8_t byte = 0;
  CHECK(ConvertElement(127.9, &byte));
  CHECK(byte == 127);
  CHECK(ConvertElement(-128.9, &byte));
  CHECK(byte == -128);
  CHECK_FALSE(ConvertElement(128.0, &byte));
  CHECK_FALSE(ConvertElement(-129.0, &byte));
  CHECK_FALSE(ConvertElement(std::nan(""), &byte));
  uint64_t big = 0;
  CHECK(ConvertElement(18446744073709549568.0, &big));
  CHECK(big == 18446744073709549568ull);
  CHECK_FALSE(ConvertElement(18446744073709551616.0, &big));
  CHECK(ConvertElement(-0.5, &big));
  CHECK(big == 0);
  CHECK(ConvertElement(int32_t{-1}, &big));
  CHECK(big == UINT64_MAX);
  BoolByte flag;
  CHECK(ConvertElement(0.25F, &flag));
  CHECK(flag.byte == 1);
}

// A conversion through double would round twice: the number below is just above a tie of bfloat16, and double cannot
// represent the difference.
TEST_CASE("elements: big integers round once to narrow floats", "[eval]") {
  const int64_t tie = (int64_t{1} << 62) + (int64_t{1} << 54);
  BFloat16 rounded;
  REQUIRE(ConvertElement(tie, &rounded));
  CHECK(static_cast<float>(rounded) == std::ldexp(1.0F, 62));
  REQUIRE(ConvertElement(tie + 1, &rounded));
  CHECK(static_cast<float>(rounded) == std::ldexp(1.0F, 62) + std::ldexp(1.0F, 55));
  REQUIRE(ConvertElement(-(tie + 1), &rounded));
  CHECK(static_cast<float>(rounded) == -(std::ldexp(1.0F, 62) + std::ldexp(1.0F, 55)));
}

TEST_CASE("elements: every dtype of host tensors, and no other", "[eval]") {
  for (const int bits : {8, 16, 32, 64}) {
    CHECK(IsElementType(DataType::Int(bits)));
    CHECK(IsElementType(DataType::UInt(bits)));
  }
  for (const int bits : {16, 32, 64}) CHECK(IsElementType(DataType::Float(bits)));
  CHECK(IsElementType(DataType::Bool()));
  CHECK(IsElementType(DataType::BFloat(16)));
  CHECK_FALSE(IsElementType(DataType::Int(4)));
  CHECK_FALSE(IsElementType(DataType::Float(32, 4)));
  CHECK_FALSE(IsElementType(DataType::Handle()));
  CHECK_FALSE(IsElementType(DataType::Void()));
}

}  // namespace iropt
