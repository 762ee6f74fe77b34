// Turns exceptions of passes, instruments and plugins into errors.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <new>
#include <type_traits>

#include "iropt/support/result.h"

namespace iropt {

// Calls `f`, which returns a Result. `describe` returns the name of the callee for the error ("instrument 'timing'").
template <class Describe, class F>
std::invoke_result_t<F&> RunGuarded(Describe&& describe, F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::Budget, fmt::format("{} ran out of memory", describe())};
  } catch (const std::exception& e) {
    return Error{ErrorCode::PassFailed, fmt::format("{} threw an exception: {}", describe(), e.what())};
  } catch (...) {
    return Error{ErrorCode::PassFailed, fmt::format("{} threw an exception", describe())};
  }
}

// The same for hooks, whose returned errors are prefixed with the name of the callee, too.
template <class Describe, class F>
std::invoke_result_t<F&> CallHook(Describe&& describe, F&& f) {
  return RunGuarded(describe, [&]() -> std::invoke_result_t<F&> {
    auto result = f();
    if (result.ok()) return result;
    Error error = result.TakeError();
    if (!error.reported()) error.message = fmt::format("{}: {}", describe(), error.message);
    return error;
  });
}

}  // namespace iropt
