// Parallel loops where there is one thread.
#include "iropt/support/parallel.h"

#include "iropt/support/background.h"

namespace iropt {

bool CanStartThreads() { return false; }

void UseOneThread() {}

int DefaultThreadCount() { return 1; }

void RegisterThreadInherit(ThreadInherit) {}

void ParallelFor(size_t n, int, FunctionRef<void(size_t)> body) {
  for (size_t i = 0; i < n; ++i) body(i);
}

}  // namespace iropt
