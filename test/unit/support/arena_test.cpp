#include "iropt/support/arena.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"

namespace iropt {
namespace {

struct Pair {
  int64_t first;
  int64_t second;
};

struct alignas(64) Aligned {
  char c;
};

TEST_CASE("an arena constructs and keeps values", "[support]") {
  Arena arena;
  std::vector<Pair*> pairs;
  for (int64_t i = 0; i < 100'000; ++i) pairs.push_back(arena.New<Pair>(i, -i));
  for (int64_t i = 0; i < 100'000; ++i) {
    REQUIRE(pairs[static_cast<size_t>(i)]->first == i);
    REQUIRE(pairs[static_cast<size_t>(i)]->second == -i);
  }
  CHECK(arena.bytes_used() == 100'000 * sizeof(Pair));
  CHECK(arena.bytes_reserved() >= arena.bytes_used());
  CHECK(arena.bytes_reserved() < 2 * arena.bytes_used() + 2 * 1024 * 1024);
}

TEST_CASE("an arena starts small and takes nothing before it is used", "[support]") {
  Arena arena;
  CHECK(arena.bytes_reserved() == 0);
  arena.New<int>(1);
  CHECK(arena.bytes_reserved() <= 1024);
}

TEST_CASE("an arena respects alignment, also right after odd sizes and for big blocks", "[support]") {
  Arena arena;
  for (int i = 0; i < 1000; ++i) {
    arena.New<char>('x');
    REQUIRE(reinterpret_cast<uintptr_t>(arena.New<Aligned>()) % alignof(Aligned) == 0);
  }
  const std::span<Aligned> big = arena.NewArray<Aligned>(100'000);
  CHECK(reinterpret_cast<uintptr_t>(big.data()) % alignof(Aligned) == 0);
}

TEST_CASE("a big block does not waste the chunk in use", "[support]") {
  Arena arena;
  char* before = arena.New<char>('a');
  const std::span<char> big = arena.NewArray<char>(10 * 1024 * 1024);
  char* after = arena.New<char>('b');
  CHECK(after == before + 1);
  CHECK(big.size() == 10 * 1024 * 1024);
  CHECK(big.front() == 0);
  CHECK(big.back() == 0);
  CHECK(arena.bytes_used() == big.size() + 2);
}

TEST_CASE("an arena copies arrays and strings", "[support]") {
  Arena arena;
  std::string text = "hello";
  const std::string_view copy = arena.CopyString(text);
  text = "HELLO";
  CHECK(copy == "hello");
  CHECK(arena.CopyString("").empty());
  const std::span<int> numbers = arena.Copy({1, 2, 3});
  CHECK(std::vector<int>(numbers.begin(), numbers.end()) == std::vector<int>{1, 2, 3});
  CHECK(arena.Copy(std::vector<int>{}).empty());
  CHECK(arena.NewArray<int>(0).empty());
}

TEST_CASE("a moved arena keeps its values and owners", "[support]") {
  auto owner = std::make_shared<int>(7);
  const std::weak_ptr<int> watch = owner;
  {
    Arena target;
    Pair* pair = nullptr;
    {
      Arena source;
      pair = source.New<Pair>(1, 2);
      source.Retain(std::move(owner));
      target = std::move(source);
    }
    CHECK(pair->second == 2);
    CHECK_FALSE(watch.expired());
    CHECK(target.bytes_used() == sizeof(Pair));
  }
  CHECK(watch.expired());
}

TEST_CASE("an absurd size is refused, not wrapped around", "[support]") {
  Arena arena;
  arena.New<int>(1);
  CHECK_THROWS_AS(arena.Allocate(SIZE_MAX - 8, 8), std::bad_alloc);
}

}  // namespace
}  // namespace iropt
