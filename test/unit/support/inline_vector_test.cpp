#include "iropt/support/inline_vector.h"

#include <numeric>
#include <vector>

#include "catch.h"

namespace iropt {
namespace {

using InlineNumbers = InlineVector<int, 4>;

std::vector<int> Items(const InlineNumbers& numbers) { return {numbers.begin(), numbers.end()}; }

TEST_CASE("an inline vector keeps its items when it outgrows the object") {
  InlineNumbers numbers;
  CHECK(numbers.empty());
  std::vector<int> expected;
  for (int i = 0; i < 100; ++i) {
    numbers.push_back(i);
    expected.push_back(i);
    CHECK(numbers.back() == i);
    CHECK(Items(numbers) == expected);
  }
  numbers.pop_back();
  CHECK(numbers.size() == 99);
  numbers.truncate(3);
  CHECK(Items(numbers) == std::vector<int>{0, 1, 2});
  numbers.clear();
  CHECK(numbers.empty());
}

TEST_CASE("an item of an inline vector can be added to it") {
  InlineNumbers numbers{7, 1, 2, 3};
  numbers.push_back(numbers.front());
  CHECK(Items(numbers) == std::vector<int>{7, 1, 2, 3, 7});
}

TEST_CASE("items are inserted into an inline vector and erased") {
  InlineNumbers numbers{1, 2, 3, 4};
  numbers.insert(numbers.begin(), 0);
  CHECK(Items(numbers) == std::vector<int>{0, 1, 2, 3, 4});
  numbers.erase(numbers.begin() + 1);
  CHECK(Items(numbers) == std::vector<int>{0, 2, 3, 4});
  numbers.insert(numbers.end(), 5);
  numbers.erase(numbers.begin());
  CHECK(Items(numbers) == std::vector<int>{2, 3, 4, 5});
}

TEST_CASE("a span is appended to an inline vector") {
  std::vector<int> many(50);
  std::iota(many.begin(), many.end(), 0);
  InlineNumbers numbers;
  numbers.append({});
  numbers.append(std::span<const int>(many).first(3));
  numbers.append(many);
  CHECK(numbers.size() == 53);
  CHECK(numbers[2] == 2);
  CHECK(numbers[3] == 0);
  CHECK(numbers.back() == 49);
}

}  // namespace
}  // namespace iropt
