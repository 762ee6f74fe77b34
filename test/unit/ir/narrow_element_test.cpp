// Elements that nothing computes with: each code is the one of its number.
#include "iropt/ir/narrow_element.h"

#include <cmath>
#include <initializer_list>

#include "catch.h"

namespace iropt {

namespace {

constexpr NarrowRounding kExact{.saturates = false, .mode = NarrowRounding::Mode::kNearest};

}  // namespace

TEST_CASE("codes of small floats are those of their numbers", "[ir]") {
  for (const TypeCode code : {TypeCode::kFloat8E4M3, TypeCode::kFloat8E5M2, TypeCode::kFloat8E3M4,
                              TypeCode::kFloat8E4M3Ieee, TypeCode::kFloat8E4M3B11Fnuz, TypeCode::kFloat8E4M3Fnuz,
                              TypeCode::kFloat8E5M2Fnuz, TypeCode::kFloat8E8M0, TypeCode::kFloat4E2M1}) {
    const DataType dtype = DataType::Make(code, code == TypeCode::kFloat4E2M1 ? 4 : 8, 1);
    CAPTURE(dtype.ToString());
    REQUIRE(IsNarrow(dtype));
    int numbers = 0;
    for (int bits = 0; bits < 1 << dtype.bits; ++bits) {
      const double number = LoadNarrow(std::byte(bits), dtype);
      const std::byte stored = StoreNarrow(number, dtype, kExact);
      if (std::isnan(number)) {
        CHECK(std::isnan(LoadNarrow(stored, dtype)));
      } else {
        CHECK(std::to_integer<int>(stored) == bits);
        ++numbers;
      }
    }
    CHECK(numbers > (1 << dtype.bits) * 7 / 8);
  }
}

TEST_CASE("floats of 8 bits have the greatest numbers of their formats", "[ir]") {
  const auto load = [](int bits, TypeCode code) { return LoadNarrow(std::byte(bits), DataType::Make(code, 8, 1)); };
  CHECK(load(0x6f, TypeCode::kFloat8E3M4) == 15.5);
  CHECK(load(0x77, TypeCode::kFloat8E4M3Ieee) == 240);
  CHECK(load(0x7f, TypeCode::kFloat8E4M3B11Fnuz) == 30);
  CHECK(load(0x7f, TypeCode::kFloat8E4M3Fnuz) == 240);
  CHECK(load(0x7f, TypeCode::kFloat8E5M2Fnuz) == 57344);
  CHECK(std::isinf(load(0xf0, TypeCode::kFloat8E3M4)));
}

TEST_CASE("integers of 2 and 4 bits have their sign", "[ir]") {
  CHECK(LoadNarrow(std::byte(0x0f), DataType::Int(4)) == -1);
  CHECK(LoadNarrow(std::byte(0xff), DataType::UInt(4)) == 15);
  CHECK(StoreNarrow(-2, DataType::Int(2), kExact) == std::byte(0xfe));
  CHECK_FALSE(IsNarrow(DataType::Int(8)));
  CHECK_FALSE(IsNarrow(DataType::Bool()));
  CHECK_FALSE(IsNarrow(DataType::UInt(4, 2)));
  CHECK_FALSE(IsNarrow(DataType::Make(TypeCode::kFloat8E3M4, 16, 1)));
}

}  // namespace iropt
