#include "iropt/support/result.h"

#include <memory>
#include <string>

#include "catch.h"

namespace iropt {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Error{ErrorCode::Parse, "odd"};
  return n / 2;
}

Result<std::string> Quarter(int n) {
  IROPT_ASSIGN_OR_RETURN(const int half, Half(n));
  IROPT_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return std::to_string(quarter);
}

Status Check(int n) {
  IROPT_RETURN_IF_ERROR(Half(n));
  return {};
}

TEST_CASE("a result is a value or an error", "[support]") {
  CHECK(*Half(4) == 2);
  CHECK_FALSE(Half(3).ok());
  CHECK(Half(3).error().message == "odd");
  CHECK(Half(3).error().code == ErrorCode::Parse);
  CHECK(*Quarter(8) == "2");
  CHECK(Quarter(6).error().message == "odd");
  CHECK(Check(2).ok());
  CHECK(Check(1).error().message == "odd");
}

TEST_CASE("a result can hold a move-only value", "[support]") {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  CHECK(**result == 3);
  const std::unique_ptr<int> taken = *std::move(result);
  CHECK(*taken == 3);
}

TEST_CASE("a result can be moved and assigned, a value over an error too", "[support]") {
  Result<std::string> result = Quarter(8);
  Result<std::string> moved = std::move(result);
  CHECK(*moved == "2");
  moved = Quarter(6);
  REQUIRE_FALSE(moved.ok());
  Result<std::string> failed = std::move(moved);
  CHECK(failed.error().message == "odd");
  failed = Quarter(400);
  REQUIRE(failed.ok());
  CHECK(*failed == "100");
  failed = Error{ErrorCode::Budget, std::string(100, 'x')};
  CHECK(failed.TakeError().message == std::string(100, 'x'));
}

TEST_CASE("a taken error goes from one result to another", "[support]") {
  Result<int> odd = Half(3);
  const Result<std::string> again = odd.TakeErrorPtr();
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().message == "odd");
  CHECK_FALSE(odd.ok());

  Status status = Check(1);
  const Result<int> third = status.TakeErrorPtr();
  REQUIRE_FALSE(third.ok());
  CHECK(third.error().message == "odd");
}

TEST_CASE("the value of a failure and the error of a success are bugs", "[support]") {
  Result<int> failure = Half(3);
  CHECK_THROWS_WITH(*failure, Catch::Contains("value of a failure: odd"));
  failure.TakeErrorPtr().reset();
  CHECK_THROWS_WITH(*failure, Catch::Contains("value of a failure: that was moved"));
  CHECK_THROWS_WITH(Half(2).error(), Catch::Contains("error() of a success"));
  CHECK_THROWS_WITH(Half(2).TakeErrorPtr(), Catch::Contains("error() of a success"));
  CHECK_THROWS_WITH(Status().error(), Catch::Contains("error() of a success"));
  CHECK_THROWS_WITH(Status().TakeErrorPtr(), Catch::Contains("error() of a success"));
}

TEST_CASE("a failure that was reported has a code and no message", "[support]") {
  const Result<int> result = Failure{ErrorCode::IllFormed};
  CHECK(result.error().reported());
  CHECK(ExitCode(result.error().code) == 3);
}

TEST_CASE("a result of a node pointer is two words", "[support]") { CHECK(sizeof(Result<int*>) == 2 * sizeof(void*)); }

}  // namespace
}  // namespace iropt
