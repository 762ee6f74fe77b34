#include "iropt/support/stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <new>
#include <vector>

#include "iropt/support/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define IROPT_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define IROPT_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IROPT_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define IROPT_TSAN 1
#endif
#endif
#ifdef IROPT_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef IROPT_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace iropt::stack_detail {

namespace {

constexpr size_t kCachedSegments = 4;
#ifdef IROPT_TSAN
// The sanitizer keeps a call stack of its own for each segment, of 64 Ki calls, and does not check for its end.
constexpr size_t kSegmentSize = 1024 * 1024;
constexpr size_t kLargestThreadStack = kSegmentSize;
#else
constexpr size_t kSegmentSize = 4 * 1024 * 1024;
// An "unlimited" main stack shares its address range with mappings, so only this much of it is relied upon.
constexpr size_t kLargestThreadStack = 64 * 1024 * 1024;
#endif

// A mapped stack with an inaccessible page below, which turns an overflow between two checks into a clean crash.
struct Segment {
  char* base = nullptr;  // lowest usable address
  size_t size = 0;
#ifdef IROPT_TSAN
  void* fiber = nullptr;
#endif

  uintptr_t limit() const { return reinterpret_cast<uintptr_t>(base) + kStackReserve; }
};

size_t PageSize() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// Infinite recursion must fail before it takes all memory of the machine: the segments of all threads together are
// limited to this number, after which allocation fails.
size_t MostSegments() {
  static const size_t most = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) / 2 * PageSize() / kSegmentSize;
  return most;
}

std::atomic<size_t> mapped_segments = 0;

// Counts a segment, unless there are too many.
class SegmentCount {
 public:
  SegmentCount() {
    if (mapped_segments.fetch_add(1, std::memory_order_relaxed) < MostSegments()) return;
    mapped_segments.fetch_sub(1, std::memory_order_relaxed);
    throw std::bad_alloc();
  }
  SegmentCount(const SegmentCount&) = delete;
  SegmentCount& operator=(const SegmentCount&) = delete;
  ~SegmentCount() {
    if (!kept_) mapped_segments.fetch_sub(1, std::memory_order_relaxed);
  }
  void Keep() { kept_ = true; }

 private:
  bool kept_ = false;
};

Segment MapSegment() {
  SegmentCount count;
  const size_t page = PageSize();
  void* memory = mmap(nullptr, kSegmentSize, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  if (mprotect(memory, page, PROT_NONE) != 0) {
    munmap(memory, kSegmentSize);
    throw std::bad_alloc();
  }
  Segment segment;
  segment.base = static_cast<char*>(memory) + page;
  segment.size = kSegmentSize - page;
#ifdef IROPT_TSAN
  segment.fiber = __tsan_create_fiber(0);
#endif
  count.Keep();
  return segment;
}

void UnmapSegment(const Segment& segment) {
#ifdef IROPT_TSAN
  __tsan_destroy_fiber(segment.fiber);
#endif
  const size_t page = PageSize();
  munmap(segment.base - page, segment.size + page);
  mapped_segments.fetch_sub(1, std::memory_order_relaxed);
}

// Segments of this thread that are free again; a few, so that recursion around a segment's edge does not map and unmap.
class SegmentCache {
 public:
  SegmentCache() { free_.reserve(kCachedSegments); }
  SegmentCache(const SegmentCache&) = delete;
  SegmentCache& operator=(const SegmentCache&) = delete;
  ~SegmentCache() {
    for (const Segment& segment : free_) UnmapSegment(segment);
  }

  Segment Take() {
    if (free_.empty()) return MapSegment();
    const Segment segment = free_.back();
    free_.pop_back();
    return segment;
  }
  void Release(const Segment& segment) {
    if (free_.size() < kCachedSegments) {
      free_.push_back(segment);
    } else {
      UnmapSegment(segment);
    }
  }

 private:
  std::vector<Segment> free_;
};

SegmentCache& Cache() {
  thread_local SegmentCache cache;
  return cache;
}

// One call on another stack: the function to run, and the context to return to.
struct Switch {
  FunctionRef<void()> body;
  std::exception_ptr exception;
  ucontext_t caller = {};
  ucontext_t callee = {};
#ifdef IROPT_ASAN
  const void* caller_stack = nullptr;
  size_t caller_stack_size = 0;
#endif
#ifdef IROPT_TSAN
  void* caller_fiber = nullptr;
#endif
};

// The arguments of a context's entry function are ints, so the pointer comes in two halves.
void Entry(unsigned high, unsigned low) {
  auto* call = reinterpret_cast<Switch*>((static_cast<uintptr_t>(high) << 32) | low);
#ifdef IROPT_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &call->caller_stack, &call->caller_stack_size);
#endif
  try {
    call->body();
  } catch (...) {
    call->exception = std::current_exception();
  }
#ifdef IROPT_ASAN
  __sanitizer_start_switch_fiber(nullptr, call->caller_stack, call->caller_stack_size);
#endif
#ifdef IROPT_TSAN
  __tsan_switch_to_fiber(call->caller_fiber, 0);
#endif
  setcontext(&call->caller);
  IROPT_UNREACHABLE("setcontext returned");
}

void SwitchTo(const Segment& segment, Switch& call) {
  IROPT_CHECK(getcontext(&call.callee) == 0);
  call.callee.uc_stack.ss_sp = segment.base;
  call.callee.uc_stack.ss_size = segment.size;
  call.callee.uc_link = nullptr;
  const auto address = reinterpret_cast<uintptr_t>(&call);
  makecontext(&call.callee, reinterpret_cast<void (*)()>(&Entry), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
#ifdef IROPT_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, segment.base, segment.size);
#endif
#ifdef IROPT_TSAN
  call.caller_fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(segment.fiber, 0);
#endif
  IROPT_CHECK(swapcontext(&call.caller, &call.callee) == 0);
#ifdef IROPT_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

// The limit if the system does not tell where the stack is, as for the main thread if /proc is not mounted: half of the
// largest size, below this frame. Arguments and the environment, which lie above it, take at most a quarter.
uintptr_t GuessedStackLimit() {
  struct rlimit most = {};
  const bool is_known = getrlimit(RLIMIT_STACK, &most) == 0 && most.rlim_cur != RLIM_INFINITY;
  const size_t size = is_known ? std::min<size_t>(most.rlim_cur, kLargestThreadStack) : kSegmentSize;
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - std::max(size / 2, kStackReserve) + kStackReserve;
}

// The lowest address of the thread's own stack that WithStack may run on.
uintptr_t ThreadStackLimit() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return GuessedStackLimit();
  void* base = nullptr;
  size_t size = 0;
  IROPT_CHECK(pthread_attr_getstack(&attributes, &base, &size) == 0);
  pthread_attr_destroy(&attributes);
  const uintptr_t top = reinterpret_cast<uintptr_t>(base) + size;
  return top - std::min(size, kLargestThreadStack) + kStackReserve;
}

}  // namespace

void RunOnFreshStack(FunctionRef<void()> f) {
  const uintptr_t outer_limit = stack_limit;
  if (outer_limit == UINTPTR_MAX) {
    stack_limit = ThreadStackLimit();
    if (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) >= stack_limit) return f();
  }
  const uintptr_t saved_limit = stack_limit;
  SegmentCache& cache = Cache();
  const Segment segment = cache.Take();
  Switch call{.body = f, .exception = nullptr};
  stack_limit = segment.limit();
  SwitchTo(segment, call);
  stack_limit = saved_limit;
  cache.Release(segment);
  if (call.exception) std::rethrow_exception(std::move(call.exception));
}

}  // namespace iropt::stack_detail
