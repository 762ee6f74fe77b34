// Counters of passes.
#include "iropt/pass/statistic.h"

#include "catch.h"
#include "iropt/support/parallel.h"

using namespace iropt;

namespace {

constexpr Statistic kMerged("MergeAdds", "merged-calls", "calls that were merged");
constexpr Statistic kKept("MergeAdds", "kept-calls", "calls that stay");
constexpr Statistic kSeen("Look", "seen-calls", "calls that were seen");

}  // namespace

TEST_CASE("counters add up in their scope, by pass and name") {
  StatisticCounts counts;
  {
    const StatisticScope scope(counts);
    kSeen.Add(0);
    kMerged.Add(2);
    kMerged.Add(3);
    kKept.Add(1);
    const Statistic same("MergeAdds", "kept-calls", "calls that stay");
    same.Add(1);
  }
  const std::vector<StatisticCounts::Row> rows = counts.Rows();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].statistic.pass() == "Look");
  CHECK(rows[0].value == 0);
  CHECK(rows[1].statistic.name() == "kept-calls");
  CHECK(rows[1].value == 2);
  CHECK(rows[2].statistic.description() == "calls that were merged");
  CHECK(rows[2].value == 5);
}

TEST_CASE("without a scope, nothing counts") {
  StatisticCounts outer;
  StatisticCounts inner;
  kMerged.Add(1);
  {
    const StatisticScope outer_scope(outer);
    {
      const StatisticScope inner_scope(inner);
      kMerged.Add(10);
    }
    kMerged.Add(100);
  }
  kMerged.Add(1000);
  CHECK(inner.Rows()[0].value == 10);
  CHECK(outer.Rows()[0].value == 100);
}

TEST_CASE("the threads of a parallel loop count for the thread that started it") {
  StatisticCounts counts;
  const StatisticScope scope(counts);
  ParallelFor(1000, 4, [](size_t i) { kMerged.Add(i); });
  CHECK(counts.Rows()[0].value == 499500);
}
