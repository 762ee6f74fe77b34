// Turns exceptions of passes, instruments and plugins into errors.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string_view>
#include <type_traits>

#include "iropt/support/check_failure.h"
#include "iropt/support/result.h"

namespace iropt {

// Calls `f`, which returns a Result. `describe` returns the name of the callee for the error ("instrument 'timing'").
// The error keeps the exception.
template <class Describe, class F>
std::invoke_result_t<F&> CatchExceptions(Describe&& describe, F&& f) {
  const auto failed = [&](ErrorCode code, std::string_view what) {
    return Error{code, fmt::format("{} {}", describe(), what), std::current_exception()};
  };
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return failed(ErrorCode::Budget, "ran out of memory");
  } catch (const CheckFailure& e) {
    return failed(ErrorCode::Internal, fmt::format("failed: {}", e.what()));
  } catch (const std::exception& e) {
    return failed(ErrorCode::PassFailed, fmt::format("threw an exception: {}", e.what()));
  } catch (...) {
    return failed(ErrorCode::PassFailed, "threw an exception");
  }
}

// Calls a hook as CatchExceptions does, and prefixes returned errors with the name of the callee, too.
template <class Describe, class F>
std::invoke_result_t<F&> CallHook(Describe&& describe, F&& f) {
  return CatchExceptions(describe, [&]() -> std::invoke_result_t<F&> {
    auto result = f();
    if (result.ok()) return result;
    Error error = result.TakeError();
    if (!error.reported()) error.message = fmt::format("{}: {}", describe(), error.message);
    return error;
  });
}

}  // namespace iropt
