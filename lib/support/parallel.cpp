#include "iropt/support/parallel.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>

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

}  // namespace

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
  if (threads <= 1 || n <= 1 || uses_one_thread.load(std::memory_order_relaxed)) {
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
