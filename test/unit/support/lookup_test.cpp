#include "iropt/support/lookup.h"

#include <array>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"

namespace iropt {
namespace {

using Numbers = LookupMap<std::string, int>;

template <class Table>
concept Iterable = requires(const Table& table) {
  table.begin();
};
static_assert(!Iterable<Numbers> && !Iterable<LookupSet<int>>);

TEST_CASE("a lookup table finds values by their keys") {
  Numbers numbers = {{"one", 1}, {"two", 2}};
  CHECK(*numbers.Find("one") == 1);
  CHECK(numbers.Find("three") == nullptr);
  CHECK(numbers.Lookup("two") == 2);
  CHECK(numbers.Lookup("three") == 0);
  CHECK(numbers.Lookup("three", 7) == 7);
  CHECK(numbers.contains("two"));
  CHECK(numbers.size() == 2);
}

TEST_CASE("a value is added once, and references to values stay valid") {
  Numbers numbers;
  const auto [one, is_new] = numbers.try_emplace("one", 1);
  CHECK(is_new);
  for (int i = 0; i < 1000; ++i) numbers[std::to_string(i)] = i;
  const auto [again, is_new_again] = numbers.try_emplace("one", 5);
  CHECK(!is_new_again);
  CHECK(&again == &one);
  CHECK(one == 1);
  CHECK(numbers.insert_or_assign("one", 5) == 5);
  CHECK(one == 5);
  CHECK(numbers.Take("one") == 5);
  CHECK(!numbers.erase("one"));
}

TEST_CASE("what does not depend on an order visits all entries of a lookup table") {
  Numbers numbers = {{"one", 1}, {"two", 2}, {"three", 3}};
  numbers.ForEachInAnyOrder([](const std::string&, int& value) { value *= 10; });
  int sum = 0;
  std::as_const(numbers).ForEachInAnyOrder([&](const std::string&, int value) { sum += value; });
  CHECK(sum == 60);
  CHECK(numbers.AllOf([](const std::string&, int value) { return value >= 10; }));
  CHECK(!numbers.AllOf([](const std::string& key, int) { return key != "two"; }));
}

TEST_CASE("a lookup set tells whether a key is new") {
  LookupSet<int> set = {1, 2};
  CHECK(set.insert(3));
  CHECK(!set.insert(1));
  set.InsertAll(std::vector{4, 5});
  set.InsertAll(LookupSet<int>{6});
  CHECK(set.size() == 6);
  CHECK(set.contains(6));
  CHECK(set.erase(6));
  CHECK(!set.contains(6));
}

TEST_CASE("pairs and arrays are keys of lookup tables") {
  LookupMap<std::pair<int, std::string>, int> pairs;
  pairs[{1, "a"}] = 1;
  CHECK(pairs.contains({1, "a"}));
  CHECK(!pairs.contains({1, "b"}));
  LookupSet<std::array<int, 3>> arrays;
  CHECK(arrays.insert({1, 2, 3}));
  CHECK(!arrays.insert({1, 2, 3}));
  CHECK(arrays.insert({3, 2, 1}));
}

}  // namespace
}  // namespace iropt
