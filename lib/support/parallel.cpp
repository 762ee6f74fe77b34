#include "iropt/support/parallel.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <list>
#include <mutex>
#include <new>
#include <optional>
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

// Blocks of a loop for each thread: several, so that a thread which gets long ones, or begins late, does fewer.
constexpr size_t kBlocksPerThread = 64;

// The processors that this process may use, which are fewer than there are where a tool such as taskset says so.
int CountProcessors() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// ---- The team

// How long a thread looks for work before it sleeps: longer than what is done between the loops of a model.
constexpr std::chrono::microseconds kPatience(100);

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

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits for a short time until `is_over` returns true. Returns whether it does.
template <class Condition>
bool WaitAwake(const Condition& is_over) {
  constexpr int kLooks = 64;  // for each look at the clock
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    for (int i = 0; i < kLooks; ++i) {
      if (is_over()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return is_over();
}

// A range of blocks that nobody has begun, and how many threads may take some. Both are in one word, so that a thread
// that takes a block knows that the loop is not over. It has a cache line of its own.
class alignas(64) BlockRange {
 public:
  static constexpr uint32_t kMostThreads = (1U << 16) - 1, kMostBlocks = (1U << 24) - 1;

  void Open(uint32_t threads, uint32_t begin, uint32_t end) {
    word_.store(uint64_t{threads} << 48 | uint64_t{begin} << 24 | end, std::memory_order_release);
  }
  // Takes the first or the last block for the thread with this number. Returns nothing if all have been begun.
  std::optional<uint32_t> Take(uint32_t number, bool takes_first) {
    uint64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      const uint32_t begin = word >> 24 & kMostBlocks, end = word & kMostBlocks;
      if (begin == end || number >= word >> 48) return std::nullopt;
      const uint64_t rest = takes_first ? word + (1U << 24) : word - 1;
      if (word_.compare_exchange_weak(word, rest, std::memory_order_acq_rel, std::memory_order_acquire))
        return takes_first ? begin : end - 1;
    }
  }

 private:
  std::atomic<uint64_t> word_ = 0;
};

// The threads that run parallel loops together with the one that starts them.
//
// One loop runs at a time. Each thread has a range of its blocks, and those of others when it has none left. In a loop
// that follows, it so gets about what it has written itself: to read what another one has written may take longer than
// to compute it. A loop that is over in microseconds must gain from threads, too: nothing is allocated for it, and a
// thread without work looks for the next loop for a while before it sleeps.
class ThreadTeam {
 public:
  static constexpr uint32_t kMostBlocks = BlockRange::kMostBlocks;

  // That of this process. It is never destroyed, since its threads may sleep until the process ends.
  static ThreadTeam& Get();

  // Calls body(0) ... body(blocks - 1) on up to `threads` threads, of which the calling one is the first. Returns
  // false, and does nothing, if a loop is running: there is one around this one, or another thread has started it.
  // Bodies must not throw.
  bool TryRun(uint32_t blocks, uint32_t threads, FunctionRef<void(uint32_t)> body);

 private:
  // More threads share ranges.
  static constexpr uint32_t kMostRanges = 64;

  void StartWorkers(uint32_t wanted);
  void Work(uint32_t number);
  void RunBlocks(uint32_t number);
  int WaitForLoop(int seen);
  void WaitForEnd();

  std::atomic<bool> is_running_ = false;
  std::array<BlockRange, kMostRanges> ranges_;  // all empty if no loop runs
  alignas(64) std::atomic<int> unfinished_ = 0;
  alignas(64) std::atomic<int> num_loops_ = 0;  // begun so far
  // Of the loop that runs; not changed while it has unfinished blocks.
  const FunctionRef<void(uint32_t)>* body_ = nullptr;
  std::atomic<uint32_t> num_ranges_ = 1;
  // Only the thread whose loop runs changes these two.
  std::atomic<uint32_t> num_workers_ = 0;
  uint32_t tried_workers_ = 0;
};

ThreadTeam& ThreadTeam::Get() {
  static auto* const team = new ThreadTeam;
  return *team;
}

bool ThreadTeam::TryRun(uint32_t blocks, uint32_t threads, FunctionRef<void(uint32_t)> body) {
  if (blocks == 0) return true;
  if (is_running_.exchange(true, std::memory_order_acquire)) return false;
  threads = std::min(threads, BlockRange::kMostThreads);
  if (threads - 1 > tried_workers_) StartWorkers(threads - 1);
  const uint32_t num_ranges = std::min(threads, kMostRanges);
  body_ = &body;
  num_ranges_.store(num_ranges, std::memory_order_relaxed);
  unfinished_.store(static_cast<int>(blocks), std::memory_order_relaxed);
  const auto begin_of = [&](uint32_t range) { return static_cast<uint32_t>(uint64_t{blocks} * range / num_ranges); };
  for (uint32_t i = 0; i < num_ranges; ++i) ranges_[i].Open(threads, begin_of(i), begin_of(i + 1));
  num_loops_.fetch_add(1, std::memory_order_seq_cst);
  num_loops_.notify_all();
  RunBlocks(0);
  WaitForEnd();
  is_running_.store(false, std::memory_order_release);
  return true;
}

// As many as the system allows are started, together with those that there are; this is tried once for each higher
// number.
void ThreadTeam::StartWorkers(uint32_t wanted) {
  tried_workers_ = wanted;
  std::list<ThreadSpace> spaces;
  try {
    for (uint32_t number = num_workers_.load(std::memory_order_relaxed); number < wanted; ++number) {
      spaces.emplace_back();
      std::thread([this, number] { Work(number + 1); }).detach();
      num_workers_.store(number + 1, std::memory_order_relaxed);
    }
  } catch (const std::bad_alloc&) {
    // The address space is used up.
  } catch (const std::system_error&) {
    // The user or the container may start no more threads.
  }
}

void ThreadTeam::Work(uint32_t number) {
  for (int seen = 0;;) {
    seen = WaitForLoop(seen);
    RunBlocks(number);
  }
}

// The thread with number 0 is the one that has started the loop. Those of other ranges are taken from their ends.
void ThreadTeam::RunBlocks(uint32_t number) {
  int done = 0;
  const uint32_t num_ranges = num_ranges_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < num_ranges; ++i) {
    BlockRange& range = ranges_[(number + i) % num_ranges];
    for (auto block = range.Take(number, i == 0); block; block = range.Take(number, i == 0)) {
      (*body_)(*block);
      ++done;
    }
  }
  if (done != 0 && unfinished_.fetch_sub(done, std::memory_order_acq_rel) == done && number != 0)
    unfinished_.notify_all();
}

// Returns the number of loops, which is not the one that was seen before. With more threads than processors, one that
// stays awake would take the time of another one.
int ThreadTeam::WaitForLoop(int seen) {
  const auto is_over = [&] { return num_loops_.load(std::memory_order_acquire) != seen; };
  const bool may_stay = num_workers_.load(std::memory_order_relaxed) < static_cast<uint32_t>(DefaultThreadCount());
  if (!may_stay || !WaitAwake(is_over)) num_loops_.wait(seen, std::memory_order_acquire);
  return num_loops_.load(std::memory_order_acquire);
}

void ThreadTeam::WaitForEnd() {
  const auto is_over = [&] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (WaitAwake(is_over)) return;
  for (int left = unfinished_.load(std::memory_order_acquire); left != 0;
       left = unfinished_.load(std::memory_order_acquire)) {
    unfinished_.wait(left, std::memory_order_acquire);
  }
}

}  // namespace

bool CanStartThreads() { return true; }

void UseOneThread() { uses_one_thread.store(true); }

int DefaultThreadCount() {
  static const int count = CountProcessors();
  return count;
}

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
  const auto run_alone = [&] {
    for (size_t i = 0; i < n; ++i) body(i);
  };
  if (n <= 1 || threads <= 1 || uses_one_thread.load(std::memory_order_relaxed)) return run_alone();
  const size_t settings = Settings().count.load(std::memory_order_acquire);
  const SettingValues inherited = SaveSettings(settings);
  const CrashNote* const note = CrashNote::Current();
  FirstFailure failure;
  const auto used = static_cast<size_t>(std::min<uint64_t>(n, static_cast<uint64_t>(threads)));
  const size_t blocks = std::min({n, used * kBlocksPerThread, size_t{ThreadTeam::kMostBlocks}});
  const auto run_block = [&](uint32_t block) {
    const SettingValues own = SaveSettings(settings);
    RestoreSettings(inherited, settings);
    const CrashNote* const own_note = CrashNote::Exchange(note);
    PrepareThreadForCrash();
    // The first blocks have one item more if they are not of the same size.
    const size_t size = n / blocks, longer = n % blocks;
    const size_t begin = block * size + std::min<size_t>(block, longer);
    const size_t end = begin + size + (block < longer ? 1 : 0);
    for (size_t i = begin; i != end && !failure.IsBefore(i); ++i) {
      try {
        body(i);
      } catch (...) {
        failure.Record(i, std::current_exception());
      }
    }
    CrashNote::Exchange(own_note);
    RestoreSettings(own, settings);
  };
  if (!ThreadTeam::Get().TryRun(static_cast<uint32_t>(blocks), static_cast<uint32_t>(used), run_block))
    return run_alone();
  failure.Rethrow();
}

}  // namespace iropt
