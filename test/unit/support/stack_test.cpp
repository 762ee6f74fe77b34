#include "iropt/support/stack.h"

#include <pthread.h>

#include <array>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"

namespace iropt {
namespace {

// One level that a compiler cannot turn into a loop.
size_t Depth(size_t n) {
  return WithStack([&]() -> size_t {
    volatile char frame[64] = {};
    frame[n % 64] = 1;
    if (n == 0) return 0;
    return Depth(n - 1) + static_cast<size_t>(frame[n % 64]);
  });
}

void ThrowAt(size_t n) {
  WithStack([&] {
    if (n == 0) throw std::runtime_error("bottom");
    ThrowAt(n - 1);
    asm volatile("");  // keeps the call from being the last thing
  });
}

TEST_CASE("a million nested calls fit", "[support]") { CHECK(Depth(1'000'000) == 1'000'000); }

TEST_CASE("depth is reached again after returning", "[support]") {
  for (int i = 0; i < 20; ++i) REQUIRE(Depth(100'000) == 100'000);
}

TEST_CASE("an exception passes through stack segments", "[support]") {
  CHECK_THROWS_WITH(ThrowAt(1'000'000), "bottom");
  // The thread's stack limit is restored.
  CHECK(Depth(1'000'000) == 1'000'000);
}

TEST_CASE("an exception is caught and a new one thrown on the way up", "[support]") {
  struct Nested {
    static int Run(size_t n) {
      return WithStack([&]() -> int {
        if (n == 0) throw std::runtime_error("inner");
        if (n % 1000 != 0) return Run(n - 1);
        try {
          return Run(n - 1);
        } catch (const std::runtime_error&) {
          throw std::runtime_error("at " + std::to_string(n));
        }
      });
    }
  };
  CHECK_THROWS_WITH(Nested::Run(200'000), "at 200000");
}

TEST_CASE("results of all sorts come back from another segment", "[support]") {
  int target = 0;
  struct Deep {
    static int& Reference(size_t n, int& target) {
      return WithStack([&]() -> int& { return n == 0 ? target : Reference(n - 1, target); });
    }
    static std::unique_ptr<int> Owner(size_t n) {
      return WithStack([&] { return n == 0 ? std::make_unique<int>(5) : Owner(n - 1); });
    }
  };
  CHECK(&Deep::Reference(200'000, target) == &target);
  CHECK(*Deep::Owner(200'000) == 5);
}

TEST_CASE("several threads recurse at once", "[support]") {
  std::array<size_t, 4> depths{};
  std::vector<std::thread> threads;
  for (size_t& depth : depths) {
    threads.emplace_back([&depth] {
      for (int i = 0; i < 3; ++i) depth += Depth(200'000);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const size_t depth : depths) CHECK(depth == 600'000);
}

TEST_CASE("a thread with a small stack recurses as deep as others", "[support]") {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  size_t depth = 0;
  pthread_t thread;
  const auto run = [](void* result) -> void* {
    *static_cast<size_t*>(result) = Depth(200'000);
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &depth) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  CHECK(depth == 200'000);
}

}  // namespace
}  // namespace iropt
