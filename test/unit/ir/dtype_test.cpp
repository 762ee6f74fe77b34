#include "iropt/ir/dtype.h"

#include "catch.h"

namespace iropt {
namespace {

TEST_CASE("a dtype prints as it is read", "[ir]") {
  for (const char* text :
       {"int8", "uint16", "bool", "uint1x4", "float16", "bfloat16", "float32x4", "float32xvscalex4", "handle",
        "e4m3_float8", "e5m2_float8", "e5m2_float8x2", "float4_e2m1fn", "int32x16", "void"}) {
    const auto dtype = DataType::Parse(text);
    REQUIRE(dtype.has_value());
    CHECK(dtype->ToString() == text);
  }
}

TEST_CASE("dtype spellings that are read and printed otherwise", "[ir]") {
  CHECK(DataType::Parse("float8_e4m3fn") == DataType::Parse("e4m3_float8"));
  CHECK(DataType::Parse("float8_e5m2x4") == DataType::Parse("e5m2_float8x4"));
  CHECK(DataType::Parse("float") == DataType::Float(32));
  CHECK(DataType::Parse("bfloat") == DataType::BFloat(16));
  CHECK(DataType::Parse("uint1") == DataType::Bool());
  CHECK(DataType::Parse("int32x1") == DataType::Int(32));
  CHECK(DataType::Parse("") == DataType::Void());
}

TEST_CASE("texts that do not name a dtype", "[ir]") {
  for (const char* text :
       {"flot32", "int0", "int256", "int-8", "float32x", "float32x0", "float32x40000", "float32 ", "float32xvscale",
        "float32xvscalex1", "bool8", "float32x4x4", "f32", "float99999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(DataType::Parse(text).has_value());
  }
}

TEST_CASE("bytes of one element", "[ir]") {
  CHECK(DataType::Bool().bytes() == 1);
  CHECK(DataType::Int(4).bytes() == 1);
  CHECK(DataType::Float(32, 4).bytes() == 16);
  CHECK(DataType::Void().bytes() == 0);
}

}  // namespace
}  // namespace iropt
