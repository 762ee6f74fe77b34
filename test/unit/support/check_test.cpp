#include "iropt/support/check.h"

#include <string>

#include "catch.h"
#include "child.h"

namespace iropt {
namespace {

TEST_CASE("a check that holds does nothing and evaluates no argument of its message", "[support]") {
  int evaluated = 0;
  IROPT_CHECK(evaluated == 0, "{}", ++evaluated);
  CHECK(evaluated == 0);
}

TEST_CASE("a failed check prints its location and message and exits with 70", "[support]") {
  const std::string name = "x";
  const Outcome outcome = RunInChild([&] { IROPT_CHECK(1 > 2, "{} {} {} {} {}", -3, 4u, 'c', name, true); });
  CHECK(outcome.exit_code == 70);
  CHECK_THAT(outcome.errors, Catch::Contains("internal error: test/unit/support/check_test.cpp:"));
  CHECK_THAT(outcome.errors, Catch::Contains("check failed: 1 > 2: -3 4 c x true\n"));
}

TEST_CASE("a failed check throws its message in a program that does not let it end the process", "[support]") {
  CHECK_THROWS_WITH([] { IROPT_CHECK(1 > 2, "{}", 3); }(),
                    Catch::Contains("internal error: test/unit/support/check_test.cpp:") &&
                        Catch::EndsWith("check failed: 1 > 2: 3"));
}

TEST_CASE("a check without a message, and unreachable code", "[support]") {
  CHECK_THAT(RunInChild([] { IROPT_CHECK(false); }).errors, Catch::EndsWith("check failed: false\n"));
  CHECK_THAT(RunInChild([] { IROPT_UNREACHABLE("kind {}", 7); }).errors, Catch::EndsWith("unreachable: kind 7\n"));
}

TEST_CASE("a wrong message format does not hide the failure", "[support]") {
  const Outcome outcome = RunInChild([] { IROPT_CHECK(false, "{} {}", 1); });
  CHECK(outcome.exit_code == 70);
  CHECK_THAT(outcome.errors, Catch::Contains("check failed: false: {} {}"));
}

}  // namespace
}  // namespace iropt
