#include "eval/kernels/sort_keys.h"

#include <limits>
#include <vector>

#include "catch.h"

namespace iropt::eval {

namespace {

// Checks that the keys of the values ascend, and those for descending order descend.
template <class M>
void CheckAscending(const std::vector<M>& values) {
  for (size_t i = 1; i < values.size(); ++i) {
    CAPTURE(values[i - 1], values[i]);
    CHECK(SortKey(values[i - 1], false) < SortKey(values[i], false));
    CHECK(SortKey(values[i - 1], true) > SortKey(values[i], true));
  }
}

}  // namespace

TEST_CASE("sort keys have the order of numbers") {
  CheckAscending<int64_t>({INT64_MIN, -2, -1, 0, 1, INT64_MAX});
  CheckAscending<int8_t>({-128, -1, 0, 1, 127});
  CheckAscending<uint64_t>({0, 1, uint64_t{1} << 63, UINT64_MAX});
  CheckAscending<bool>({false, true});
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  CheckAscending<double>({-kInf, -1e300, -1, -kTiny, 0, kTiny, 1, 1e300, kInf});
  CheckAscending<float>({-INFINITY, -1.5F, -1, 0, 1e-40F, 1, 3e38F, INFINITY});
}

TEST_CASE("sort keys put NaN last and zeros together") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const bool descending : {false, true}) {
    CHECK(SortKey(nan, descending) == SortKey(-nan, descending));
    CHECK(SortKey(nan, descending) > SortKey(INFINITY, descending));
    CHECK(SortKey(nan, descending) > SortKey(-INFINITY, descending));
    CHECK(SortKey(0.0, descending) == SortKey(-0.0, descending));
  }
}

TEST_CASE("equal keys keep their order") {
  std::vector<KeyedPosition> line = {{2, 0}, {1, 1}, {2, 2}, {1, 3}};
  SortByKey(line);
  std::vector<int64_t> positions;
  for (const KeyedPosition& item : line) positions.push_back(item.position);
  CHECK(positions == std::vector<int64_t>{1, 3, 0, 2});
}

}  // namespace iropt::eval
