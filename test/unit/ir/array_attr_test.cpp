// Arrays as texts in base64: also those of types that nothing is computed with.
#include "iropt/ir/array_attr.h"

#include <string>
#include <vector>

#include "catch.h"

namespace iropt {
namespace {

std::string Encoded(const NDArray& array, TextVersion version) {
  std::string text;
  EncodeArray(
      array, [&](std::string_view part) { text += part; }, version);
  return text;
}

std::shared_ptr<NDArray> Filled(DataType dtype, const std::vector<int>& bytes) {
  const int64_t shape[] = {static_cast<int64_t>(bytes.size())};
  auto array = NDArray::Make(dtype, shape);
  for (size_t i = 0; i < bytes.size(); ++i) array->mutable_data()[i] = static_cast<std::byte>(bytes[i]);
  return array;
}

TEST_CASE("arrays of narrow types are read as they were written", "[array]") {
  const std::shared_ptr<NDArray> arrays[] = {
      Filled(DataType::Int(4), {1, 0xfe, 7, 0xf8, 3}),
      Filled(DataType::UInt(4), {15, 0, 8}),
      Filled(DataType::Int(2), {1, 0xfe, 0xff, 0, 1}),
      Filled(DataType::Make(TypeCode::kFloat4E2M1, 4, 1), {7, 15}),
      Filled(DataType::Make(TypeCode::kFloat8E4M3Fnuz, 8, 1), {0x80, 1}),
      Filled(DataType::Make(TypeCode::kFloat8E8M0, 8, 1), {0xff, 127}),
      Filled(DataType::Bool(), {1, 0, 1}),
  };
  for (const TextVersion version : {TextVersion::kV0_18, TextVersion::kV0_21, TextVersion::kV0_23}) {
    for (const auto& array : arrays) {
      CAPTURE(array->dtype().ToString());
      const auto read = DecodeArray(Encoded(*array, version), version);
      REQUIRE(read.ok());
      CHECK((*read)->dtype() == array->dtype());
      CHECK(**read == *array);
    }
  }
}

TEST_CASE("elements of less than a byte are packed since 0.21", "[array]") {
  const auto array = Filled(DataType::Int(4), {1, 0xfe, 7, 0xf8, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(Encoded(*array, TextVersion::kV0_21).size() < Encoded(*array, TextVersion::kV0_18).size());
}

TEST_CASE("arrays of types that do not exist are refused", "[array]") {
  for (const DataType dtype : {DataType::Int(3), DataType::Handle(), DataType::Make(TypeCode::kFloat8E8M0, 4, 1)}) {
    const auto read = DecodeArray(Encoded(*Filled(dtype, {1}), TextVersion::kV0_21), TextVersion::kV0_21);
    CHECK_FALSE(read.ok());
  }
}

}  // namespace
}  // namespace iropt
