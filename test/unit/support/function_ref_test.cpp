#include "iropt/support/function_ref.h"

#include <memory>
#include <string>

#include "catch.h"

namespace iropt {
namespace {

int Twice(int n) { return 2 * n; }
int Apply(FunctionRef<int(int)> f, int n) { return f(n); }

TEST_CASE("a function reference calls functions, lambdas and const objects", "[support]") {
  int calls = 0;
  const auto triple = [](int n) { return 3 * n; };
  CHECK(Apply(Twice, 4) == 8);
  CHECK(Apply(triple, 4) == 12);
  CHECK(Apply([&](int n) { return n + ++calls; }, 4) == 5);
  CHECK(calls == 1);
}

TEST_CASE("a function reference forwards move-only values and can drop results", "[support]") {
  const auto take = [](std::unique_ptr<int> p) { return *p; };
  const FunctionRef<int(std::unique_ptr<int>)> f = take;
  CHECK(f(std::make_unique<int>(9)) == 9);
  std::string text;
  const auto append = [&](char c) -> std::string& { return text += c; };
  const FunctionRef<void(char)> g = append;
  g('x');
  CHECK(text == "x");
}

}  // namespace
}  // namespace iropt
