#include "iropt/support/parallel.h"

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"

namespace iropt {
namespace {

thread_local int setting = 0;

void* SaveSetting() { return reinterpret_cast<void*>(static_cast<intptr_t>(setting)); }
void RestoreSetting(void* value) { setting = static_cast<int>(reinterpret_cast<intptr_t>(value)); }

TEST_CASE("every index runs exactly once, with any number of threads", "[support]") {
  for (const int threads : {-1, 1, 2, 4}) {
    std::vector<int> seen(1000);
    ParallelFor(seen.size(), threads, [&](size_t i) { ++seen[i]; });
    CHECK(seen == std::vector<int>(1000, 1));
  }
  ParallelFor(0, 4, [](size_t) { FAIL("there is no item"); });
}

TEST_CASE("one thread runs in order on the caller's thread", "[support]") {
  std::vector<size_t> order;
  std::set<std::thread::id> ids;
  ParallelFor(5, 1, [&](size_t i) {
    order.push_back(i);
    ids.insert(std::this_thread::get_id());
  });
  CHECK(order == std::vector<size_t>{0, 1, 2, 3, 4});
  CHECK(ids == std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST_CASE("the failure of the lowest index is the one that is seen", "[support]") {
  for (const int threads : {1, 2, 4}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      const auto body = [](size_t i) {
        if (i % 10 == 7) throw std::runtime_error("item " + std::to_string(i));
      };
      CHECK_THROWS_WITH(ParallelFor(500, threads, body), "item 7");
    }
  }
}

TEST_CASE("workers take over the caller's settings and the caller keeps its own", "[support]") {
  RegisterThreadInherit({SaveSetting, RestoreSetting});
  RegisterThreadInherit({SaveSetting, RestoreSetting});
  setting = 42;
  std::atomic<int> wrong = 0;
  ParallelFor(1000, 4, [&](size_t) {
    if (setting != 42) ++wrong;
  });
  CHECK(wrong == 0);
  CHECK(setting == 42);
  setting = 0;
  ParallelFor(1000, 4, [&](size_t) {
    if (setting != 0) ++wrong;
  });
  CHECK(wrong == 0);
}

TEST_CASE("two threads work at the same time", "[support]") {
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::atomic<int> begun = 0;
    std::atomic<bool> alone = false;
    ParallelFor(2, 2, [&](size_t) {
      ++begun;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (begun != 2 && !alone) alone = std::chrono::steady_clock::now() > end;
    });
    REQUIRE_FALSE(alone);
  }
}

TEST_CASE("loops follow each other closely, with other numbers of threads and items", "[support]") {
  for (size_t n = 0; n < 3000; ++n) {
    std::atomic<size_t> sum = 0;
    ParallelFor(n % 70, static_cast<int>(n % 5), [&](size_t i) { sum += i + 1; });
    REQUIRE(sum == (n % 70) * (n % 70 + 1) / 2);
  }
}

TEST_CASE("several threads run loops at the same time", "[support]") {
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 500; ++repeat) {
        std::vector<int> seen(200);
        ParallelFor(seen.size(), 3, [&](size_t i) { ++seen[i]; });
        if (seen != std::vector<int>(200, 1)) ++wrong;
      }
    });
  }
  callers.clear();
  CHECK(wrong == 0);
}

TEST_CASE("parallel loops nest", "[support]") {
  std::atomic<int> count = 0;
  ParallelFor(20, 2, [&](size_t) { ParallelFor(20, 2, [&](size_t) { ++count; }); });
  CHECK(count == 400);
}

TEST_CASE("there is at least one thread", "[support]") { CHECK(DefaultThreadCount() >= 1); }

}  // namespace
}  // namespace iropt
