// Summaries of repeated measurements.
#include "iropt/observe/sample.h"

#include "../catch.h"

namespace iropt {
namespace {

TEST_CASE("the median and the interquartile range of samples", "[driver]") {
  const SampleSummary odd = Summarize({5, 1, 3, 2, 4});
  CHECK(odd.count == 5);
  CHECK(odd.median == 3);
  CHECK(odd.min == 1);
  CHECK(odd.max == 5);
  CHECK(odd.spread == 2);  // from 2 to 4
  const SampleSummary even = Summarize({1, 2, 3, 10});
  CHECK(even.median == 2.5);
  CHECK(even.spread == 3);  // from 1.75 to 4.75
}

TEST_CASE("samples of one run and of none", "[driver]") {
  const SampleSummary one = Summarize({7});
  CHECK(one.median == 7);
  CHECK(one.spread == 0);
  CHECK(Summarize({}).count == 0);
}

}  // namespace
}  // namespace iropt
