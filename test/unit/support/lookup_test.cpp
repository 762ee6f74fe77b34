#include "iropt/support/lookup.h"

#include <array>
#include <concepts>
#include <map>
#include <memory>
#include <random>
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
static_assert(!Iterable<Numbers> && !Iterable<LookupSet<int>> && !Iterable<LookupMultiMap<int, int>>);

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

// A random sequence of changes, with few hashes so that entries collide, on a table and on one of the library.
TEST_CASE("a lookup table has the entries that were added and not removed") {
  struct FewHashes {
    size_t operator()(int key) const { return static_cast<size_t>(key % 13); }
  };
  LookupMap<int, std::string, FewHashes> table;
  std::map<int, std::string> expected;
  std::minstd_rand random(7);
  for (int step = 0; step < 20000; ++step) {
    const int key = static_cast<int>(random() % 97);
    switch (random() % 5) {
      case 0:
      case 1:
        CHECK(table.try_emplace(key, std::to_string(step)).second ==
              expected.try_emplace(key, std::to_string(step)).second);
        break;
      case 2:
      case 3: CHECK(table.erase(key) == (expected.erase(key) != 0)); break;
      default: CHECK(table.Lookup(key) == (expected.contains(key) ? expected.at(key) : "")); break;
    }
    if (random() % 2000 == 0) {
      table.clear();
      expected.clear();
    }
    REQUIRE(table.size() == expected.size());
  }
  const LookupMap<int, std::string, FewHashes> copy = table;
  LookupMap<int, std::string, FewHashes> moved = std::move(table);
  size_t visited = 0;
  copy.ForEachInAnyOrder([&](int key, const std::string& value) {
    CHECK(expected.at(key) == value);
    CHECK(*moved.Find(key) == value);
    ++visited;
  });
  CHECK(visited == expected.size());
}

TEST_CASE("a lookup table destroys what it made, and nothing else") {
  const auto alive = std::make_shared<int>();
  {
    LookupMap<int, std::shared_ptr<int>> table;
    for (int i = 0; i < 100; ++i) table.try_emplace(i, alive);
    for (int i = 0; i < 100; i += 3) table.erase(i);
    CHECK(alive.use_count() == 1 + 66);
    LookupMap<int, std::shared_ptr<int>> other = table;
    CHECK(alive.use_count() == 1 + 2 * 66);
    table.clear();
    CHECK(alive.use_count() == 1 + 66);
    table = std::move(other);
    CHECK(table.Take(1) == alive);
    CHECK(alive.use_count() == 1 + 65);
  }
  CHECK(alive.use_count() == 1);
}

TEST_CASE("a value that cannot be made is not in a lookup table") {
  struct Odd {
    explicit Odd(int number) {
      if (number % 2 == 0) throw number;
    }
  };
  LookupMap<int, Odd> table;
  for (int i = 0; i < 40; ++i) {
    if (i % 2 != 0) {
      table.try_emplace(i, i);
    } else {
      CHECK_THROWS(table.try_emplace(i, i));
    }
  }
  CHECK(table.size() == 20);
  CHECK(table.contains(1));
  CHECK(!table.contains(2));
  table.clear();
  CHECK(table.try_emplace(2, 1).second);
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

TEST_CASE("a lookup table removes the entries for which a condition holds") {
  Numbers numbers = {{"one", 1}, {"two", 2}, {"three", 3}};
  numbers.EraseIf([](const std::string& key, int value) { return key == "one" || value == 3; });
  CHECK(numbers.size() == 1);
  CHECK(numbers.contains("two"));
}

TEST_CASE("a lookup table can have a hash function and an equality with a state") {
  struct Remainder {
    int divisor;
    size_t operator()(int key) const { return static_cast<size_t>(key % divisor); }
    bool operator()(int a, int b) const { return a % divisor == b % divisor; }
  };
  LookupMap<int, int, Remainder, Remainder> table(Remainder{7}, Remainder{7});
  table[3] = 5;
  CHECK(table.Lookup(10) == 5);
  CHECK(!table.contains(4));
}

TEST_CASE("a lookup table has several values of a key") {
  LookupMultiMap<int, std::pair<int, std::string>> values;
  CHECK(values.empty());
  values.emplace(1, 10, "ten");
  CHECK(values.emplace(1, 20, "twenty").first == 20);
  values.emplace(2, 30, "thirty");
  CHECK(values.size() == 3);
  const auto is_twenty = [](const auto& value) { return value.first == 20; };
  CHECK(values.FindIf(1, is_twenty)->second == "twenty");
  CHECK(values.FindIf(2, is_twenty) == nullptr);
  CHECK(values.FindIf(3, is_twenty) == nullptr);
  int sum = 0;
  values.ForEachOf(1, [&](const auto& value) { sum += value.first; });
  CHECK(sum == 30);
  values.clear();
  CHECK(values.FindIf(1, is_twenty) == nullptr);
}

TEST_CASE("what does not depend on an order visits all keys of a lookup set") {
  const LookupSet<int> set = {1, 2, 3};
  int sum = 0;
  set.ForEachInAnyOrder([&](int key) { sum += key; });
  CHECK(sum == 6);
  CHECK(set.AllOf([](int key) { return key < 4; }));
  CHECK(!set.AllOf([](int key) { return key < 3; }));
}

TEST_CASE("keys of lookup tables can be lists") {
  LookupMap<std::pair<int, std::vector<int>>, int> table;
  table[{1, {2, 3}}] = 4;
  CHECK(table.Lookup({1, {2, 3}}) == 4);
  CHECK(!table.contains({1, {2}}));
  CHECK(!table.contains({1, {3, 2}}));
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
