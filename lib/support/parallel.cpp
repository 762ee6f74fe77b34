#include "iropt/support/parallel.h"

#include <sys/mman.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <latch>
#include <list>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "iropt/support/background.h"
#include "iropt/support/check.h"
#include "iropt/support/crash.h"

namespace iropt {

namespace {

constexpr size_t kMostSettings = 8;

struct InheritedSettings {
  std::mutex mutex;
  std::array<ThreadInherit, kMostSettings> list;
  std::atomic<size_t> count = 0;
};

InheritedSettings& Settings() {
  static InheritedSettings settings;
  return settings;
}

using SettingValues = std::array<void*, kMostSettings>;

SettingValues SaveSettings(size_t count) {
  SettingValues values{};
  for (size_t i = 0; i < count; ++i) values[i] = Settings().list[i].save();
  return values;
}

void RestoreSettings(const SettingValues& values, size_t count) {
  for (size_t i = 0; i < count; ++i) Settings().list[i].restore(values[i]);
}

// The exception of the lowest index, whatever the order in which bodies failed.
class FirstFailure {
 public:
  void Record(size_t index, std::exception_ptr exception) {
    const std::scoped_lock lock(mutex_);
    if (index >= index_.load(std::memory_order_relaxed)) return;
    index_.store(index, std::memory_order_relaxed);
    exception_ = std::move(exception);
  }
  bool IsBefore(size_t index) const { return index_.load(std::memory_order_relaxed) < index; }
  void Rethrow() {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::atomic<size_t> index_ = SIZE_MAX;
  std::exception_ptr exception_;
};

std::atomic<bool> uses_one_thread = false;

// The address space of a thread besides its stack: the first memory that an allocator takes for it, and room for more.
constexpr size_t kThreadSpace = size_t{64} << 20;

// Reserves it without using any memory.
class ThreadSpace {
 public:
  ThreadSpace() : space_(mmap(nullptr, kThreadSpace, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (space_ == MAP_FAILED) throw std::bad_alloc();
  }
  ThreadSpace(const ThreadSpace&) = delete;
  ThreadSpace& operator=(const ThreadSpace&) = delete;
  ~ThreadSpace() { munmap(space_, kThreadSpace); }

 private:
  void* space_;
};

// Counts the threads, the calling one included, that can exist at the same time: starts them and lets them wait.
int CountStartable(int threads) {
  std::latch end(1);
  std::list<ThreadSpace> spaces;
  std::list<std::jthread> started;
  try {
    for (int i = 1; i < threads; ++i) {
      spaces.emplace_back();
      started.emplace_back([&] { end.wait(); });
    }
  } catch (const std::bad_alloc&) {
    // The address space is used up.
  } catch (const std::system_error&) {
    // The user or the container may start no more threads.
  }
  end.count_down();
  return static_cast<int>(started.size()) + 1;
}

// At most `threads`: how many can be started. oneTBB ends the program if it cannot start a thread that it wants, so
// this is tried before, once for each higher number.
int StartableThreads(int threads) {
  static std::mutex mutex;
  static std::atomic<int> tried = 1;
  static std::atomic<int> startable = 1;
  if (threads > tried.load(std::memory_order_acquire)) {
    const std::scoped_lock lock(mutex);
    if (threads > tried.load(std::memory_order_relaxed)) {
      startable.store(CountStartable(threads), std::memory_order_relaxed);
      tried.store(threads, std::memory_order_release);
    }
  }
  return std::min(threads, startable.load(std::memory_order_relaxed));
}

}  // namespace

bool CanStartThreads() { return true; }

void UseOneThread() { uses_one_thread.store(true); }

int DefaultThreadCount() { return std::max(1, tbb::info::default_concurrency()); }

void RegisterThreadInherit(ThreadInherit setting) {
  InheritedSettings& settings = Settings();
  const std::scoped_lock lock(settings.mutex);
  const size_t count = settings.count.load(std::memory_order_relaxed);
  for (size_t i = 0; i < count; ++i)
    if (settings.list[i].save == setting.save) return;
  IROPT_CHECK(count < kMostSettings, "too many inherited settings");
  settings.list[count] = setting;
  settings.count.store(count + 1, std::memory_order_release);
}

void ParallelFor(size_t n, int threads, FunctionRef<void(size_t)> body) {
  if (n <= 1 || uses_one_thread.load(std::memory_order_relaxed)) threads = 1;
  if (threads > 1) threads = StartableThreads(threads);
  if (threads <= 1) {
    for (size_t i = 0; i < n; ++i) body(i);
    return;
  }
  const size_t settings = Settings().count.load(std::memory_order_acquire);
  const SettingValues inherited = SaveSettings(settings);
  const CrashNote* const note = CrashNote::Current();
  FirstFailure failure;
  const auto run_range = [&](const tbb::blocked_range<size_t>& range) {
    const SettingValues own = SaveSettings(settings);
    RestoreSettings(inherited, settings);
    const CrashNote* const own_note = CrashNote::Exchange(note);
    PrepareThreadForCrash();
    for (size_t i = range.begin(); i != range.end() && !failure.IsBefore(i); ++i) {
      try {
        body(i);
      } catch (...) {
        failure.Record(i, std::current_exception());
      }
    }
    CrashNote::Exchange(own_note);
    RestoreSettings(own, settings);
  };
  const auto limit = static_cast<size_t>(threads);
  // Without this, oneTBB starts no more threads than there are cores, even when asked for more.
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, limit);
  tbb::task_arena arena(threads);
  arena.execute([&] { tbb::parallel_for(tbb::blocked_range<size_t>(0, n), run_range); });
  failure.Rethrow();
}

}  // namespace iropt
