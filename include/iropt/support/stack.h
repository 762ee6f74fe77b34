// Recursion without a depth limit. `WithStack([&] { ... })` around a recursive step runs the step on the current stack
// while there is room, and on a fresh stack segment from the heap when there is not. Depth is bounded by memory alone.
//
//   const Expr* Visit(const Expr* e) {
//     return WithStack([&] { return VisitNode(e); });   // VisitNode calls Visit for the operands
//   }
//
// Functions in which much time is spent check first and enter themselves again, so that compilers have one copy of
// them:
//
//   const Expr* Visit(const Expr* e) {
//     if (IsStackLow()) [[unlikely]] return OnFreshStack([&] { return Visit(e); });
//     ...
//   }
//
// The check is one comparison with a thread-local address. Exceptions pass through segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "iropt/support/function_ref.h"

namespace iropt {

namespace stack_detail {

// Below this frame address a new segment is due. The first value sends each thread to the slow path once, which finds
// out where the thread's own stack ends.
inline constinit thread_local uintptr_t stack_limit = UINTPTR_MAX;

// Runs `f` on this stack if there is room after all, else on a new segment. Throws what `f` throws, and std::bad_alloc
// if the system has no memory for a segment.
void RunOnFreshStack(FunctionRef<void()> f);

}  // namespace stack_detail

// The stack that is left for the code between two calls of WithStack.
inline constexpr size_t kStackReserve = 128 * 1024;

// Returns whether less of this stack is left than the code between two checks may take.
[[gnu::always_inline]] inline bool IsStackLow() {
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < stack_detail::stack_limit;
}

// Runs `f` where there is room.
template <class F>
std::invoke_result_t<F&> OnFreshStack(F&& f) {
  using R = std::invoke_result_t<F&>;
  if constexpr (std::is_void_v<R>) {
    stack_detail::RunOnFreshStack(f);
  } else if constexpr (std::is_reference_v<R>) {
    std::remove_reference_t<R>* result = nullptr;
    stack_detail::RunOnFreshStack([&] {
      auto&& value = f();
      result = std::addressof(value);
    });
    return static_cast<R>(*result);
  } else {
    std::optional<R> result;
    stack_detail::RunOnFreshStack([&] { result.emplace(f()); });
    return *std::move(result);
  }
}

template <class F>
std::invoke_result_t<F&> WithStack(F&& f) {
  if (IsStackLow()) [[unlikely]]
    return OnFreshStack(f);
  return f();
}

}  // namespace iropt
