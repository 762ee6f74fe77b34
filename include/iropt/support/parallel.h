// Parallel loops over independent items.
#pragma once

#include <cstddef>

#include "iropt/support/function_ref.h"

namespace iropt {

// The number of threads that this process may use.
int DefaultThreadCount();

// Calls body(0) ... body(n - 1), each exactly once, on up to `threads` threads; with one thread, in order and on the
// calling thread. If bodies throw, the exception of the lowest index is rethrown, so that what a user sees does not
// depend on the number of threads; items after a failed one may be skipped. Fewer threads are used where the system
// starts no more of them, or where the address space is limited, and only the calling one while another such loop
// runs, be it around this one or in another thread: the process has one team of threads.
void ParallelFor(size_t n, int threads, FunctionRef<void(size_t)> body);

// From now on, ParallelFor uses only the calling thread. For a child process, which does not have the threads of its
// parent.
void UseOneThread();

// A thread-local setting that worker threads take over from the thread that called ParallelFor, while they work for it.
// `save` returns the current thread's value, `restore` sets it.
struct ThreadInherit {
  void* (*save)();
  void (*restore)(void*);
};

// Registers a setting; registering the same one again has no effect.
void RegisterThreadInherit(ThreadInherit setting);

}  // namespace iropt
