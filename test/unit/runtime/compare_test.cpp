// Comparing tensors, and what they hold in a few numbers.
#include "iropt/runtime/compare.h"

#include <cmath>
#include <limits>

#include "catch.h"
#include "iropt/runtime/statistics.h"

namespace iropt {

namespace {

std::shared_ptr<const NDArray> Floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  std::shared_ptr<NDArray> array = NDArray::Make(DataType::Float(32), std::move(shape));
  std::ranges::copy(values, array->MutableAs<float>().begin());
  return array;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("compare: within the tolerance, and the first element that is not", "[runtime]") {
  const auto expected = Floats({2, 2}, {1, 2, 3, 4});
  CHECK(CompareTensors(*Floats({2, 2}, {1, 2, 3, 4}), *expected, {}).ok());
  CHECK(CompareTensors(*Floats({2, 2}, {1.5, 2, 3, 4}), *expected, {0, 0.5}).ok());
  CHECK(CompareTensors(*Floats({2, 2}, {1, 2, 3, 5}), *expected, {0.25, 0}).ok());
  const auto got = Floats({2, 2}, {1, 2, 3.5, 5});
  const Comparison comparison = CompareTensors(*got, *expected, {});
  CHECK(comparison.num_differing == 2);
  CHECK(comparison.first == 2);
  CHECK(comparison.max_absolute == 1);
  CHECK(DescribeComparison(comparison, *got, *expected) ==
        "2 of 4 elements differ, first [1, 0]: 3.5, expected 3; max absolute error 1, max relative error 0.25");
}

TEST_CASE("compare: NaN and infinity are equal to themselves alone", "[runtime]") {
  CHECK(CompareTensors(*Floats({2}, {kNan, kInf}), *Floats({2}, {kNan, kInf}), {}).ok());
  const Comparison nan = CompareTensors(*Floats({1}, {kNan}), *Floats({1}, {0}), {1e9, 1e9});
  CHECK(nan.num_differing == 1);
  CHECK(nan.num_nan_mismatches == 1);
  CHECK_FALSE(CompareTensors(*Floats({1}, {kInf}), *Floats({1}, {1}), {1e9, 1e9}).ok());
  CHECK_FALSE(CompareTensors(*Floats({1}, {-kInf}), *Floats({1}, {kInf}), {1e9, 1e9}).ok());
}

TEST_CASE("compare: shapes and dtypes", "[runtime]") {
  const auto a = Floats({2}, {1, 2});
  const auto b = Floats({1, 2}, {1, 2});
  CHECK(DescribeComparison(CompareTensors(*a, *b, {}), *a, *b) ==
        "is float32 of shape (2), expected float32 of shape (1, 2)");
  CHECK(Tolerance::Of(DataType::Int(32)).absolute == 0);
}

TEST_CASE("statistics: of what is finite", "[runtime]") {
  CHECK(DescribeStatistics(StatisticsOf(*Floats({5}, {1, -3, kNan, 4, kInf}))) ==
        "min -3, max 4, mean 0.666667, 1 NaN, 1 infinite");
  CHECK(DescribeStatistics(StatisticsOf(*Floats({0}, {}))) == "no finite elements");
}

TEST_CASE("numbers of 4 bits and of small floats are compared", "[runtime]") {
  for (const DataType dtype : {DataType::Int(4), DataType::UInt(4), DataType::Make(TypeCode::kFloat8E4M3Fnuz, 8, 1)}) {
    CAPTURE(dtype.ToString());
    const auto got = NDArray::Make(dtype, {2});
    const auto expected = NDArray::Make(dtype, {2});
    CHECK(CompareTensors(*got, *expected, {}).ok());
    got->mutable_data()[1] = std::byte{5};
    const Comparison comparison = CompareTensors(*got, *expected, {});
    CHECK(comparison.num_differing == 1);
    CHECK(comparison.first == 1);
    CHECK(StatisticsOf(*got).num_finite == 2);
    CHECK(StatisticsOf(*got).max > 0);
  }
}

}  // namespace iropt
