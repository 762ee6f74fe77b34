// A part of a pipeline.
#include "iropt/pass/pass_range.h"

#include <memory>
#include <string>

#include "catch.h"
#include "helpers.h"

using namespace iropt;

namespace {

std::string PointErrorOf(std::string_view text) {
  const Result<PassPoint> point = ParsePassPoint(text);
  return point.ok() ? "" : point.error().message;
}

// The passes that run of A, B, repeat<2>(A, C), B.
Log RunBetween(std::optional<PassPoint> start, std::optional<PassPoint> stop, const PassPoint** missing = nullptr) {
  Log log;
  PassContext context;
  const auto range = std::make_shared<PassRange>(std::move(start), std::move(stop));
  context.instruments = {range};
  const Pass pipeline = Sequential(
      {Tracer(log, "A"), Tracer(log, "B"), Repeat({Tracer(log, "A"), Tracer(log, "C")}, 2), Tracer(log, "B")});
  const With<PassContext> scope(context);
  REQUIRE(scope.status().ok());
  REQUIRE(pipeline(Module(), context).ok());
  if (missing != nullptr) *missing = range->missing();
  // Each run of a pipeline is counted from the start.
  const Log first = log;
  log.clear();
  REQUIRE(pipeline(Module(), context).ok());
  CHECK(log == first);
  return first;
}

}  // namespace

TEST_CASE("a point in a pipeline is a pass, its Nth run, or the Nth run of any pass") {
  CHECK(ParsePassPoint("A")->pass == "A");
  CHECK(ParsePassPoint("A")->number == 1);
  CHECK(ParsePassPoint("tir.A:12")->number == 12);
  CHECK(ParsePassPoint("7")->pass.empty());
  CHECK(ParsePassPoint("7")->number == 7);
  for (const std::string text : {"", "0", "A:", "A:0", "A:x", ":1"}) {
    CHECK(PointErrorOf(text) == "expected PASS, PASS:N or N with a number from 1, not '" + text + "'");
  }
}

TEST_CASE("the passes after the start and up to the stop run") {
  CHECK(RunBetween({}, {}) == Log{"A", "B", "A", "C", "A", "C", "B"});
  CHECK(RunBetween({}, PassPoint{"B"}) == Log{"A", "B"});
  CHECK(RunBetween({}, PassPoint{"A", 3}) == Log{"A", "B", "A", "C", "A"});
  CHECK(RunBetween({}, PassPoint{"", 4}) == Log{"A", "B", "A", "C"});
  CHECK(RunBetween(PassPoint{"C"}, {}) == Log{"A", "C", "B"});
  CHECK(RunBetween(PassPoint{"", 2}, PassPoint{"C"}) == Log{"A", "C"});
  CHECK(RunBetween(PassPoint{"A"}, PassPoint{"A"}).empty());
}

TEST_CASE("a point that a pipeline does not have is known after it") {
  const PassPoint* missing = nullptr;
  CHECK(RunBetween(PassPoint{"B", 3}, {}, &missing).empty());
  const PassPoint none;
  CHECK(missing != nullptr);
  missing = &none;
  CHECK(RunBetween({}, PassPoint{"B", 2}, &missing).size() == 7);
  CHECK(missing == nullptr);
}
