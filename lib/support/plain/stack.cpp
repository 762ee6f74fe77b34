// Recursion on a stack that cannot be continued elsewhere: it ends as when the memory runs out.
#include "iropt/support/stack.h"

#include <new>

// The linker's names for the end of the data.
extern "C" char __data_end;

namespace iropt::stack_detail {

namespace {

// The stack lies below the data or behind them, as the linker was told.
uintptr_t StackEnd() {
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const auto data = reinterpret_cast<uintptr_t>(&__data_end);
  return frame > data ? data : 0;
}

}  // namespace

void RunOnFreshStack(FunctionRef<void()> f) {
  if (stack_limit == UINTPTR_MAX) stack_limit = StackEnd() + kStackReserve;
  if (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < stack_limit) throw std::bad_alloc();
  f();
}

}  // namespace iropt::stack_detail
