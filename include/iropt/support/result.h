// A value or an error. For failures that the user caused; bugs are IROPT_CHECK.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "iropt/support/check.h"

namespace iropt {

// The kinds of failures. The values are the documented exit codes of the tools.
enum class ErrorCode : uint8_t {
  Usage = 1,          // wrong command line; also a file that cannot be read or written
  Parse = 2,          // the input does not parse
  IllFormed = 3,      // the input parses and breaks a rule of the IR
  PassFailed = 4,     // a pass gave up
  Rejected = 5,       // a check rejected the result of a pass
  SemanticCheck = 6,  // evaluation: an expression has no value, or a program does not compute the expected results
  Budget = 7,         // out of time, memory or steps
  Internal = 70,      // a bug
};

constexpr int ExitCode(ErrorCode code) { return static_cast<int>(code); }

// An empty message means that the reason was already reported as a diagnostic.
struct Error {
  ErrorCode code;
  std::string message;
  std::exception_ptr exception = {};  // that a pass, an instrument or a plugin threw; null for other errors

  bool reported() const { return message.empty(); }
};

// The failure whose diagnostics are already out: `return Failure{ErrorCode::Parse};`.
struct Failure {
  ErrorCode code;
};

template <class T>
class Result;

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::make_unique<Error>(std::move(error))) {}  // NOLINT(google-explicit-constructor)
  Result(Failure failure) : Result(Error{failure.code, {}}) {}                // NOLINT(google-explicit-constructor)

  bool ok() const { return error_ == nullptr; }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    IROPT_CHECK(!ok(), "error() of a success");
    return *error_;
  }
  Error TakeError() { return error(), std::move(*error_); }

 private:
  std::unique_ptr<Error> error_;
};

using Status = Result<void>;

template <class T>
class [[nodiscard]] Result {
 public:
  // Values, errors and failures convert to results implicitly. NOLINTBEGIN(google-explicit-constructor)
  template <class U = T>
  requires(std::is_constructible_v<T, U&&> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
           !std::is_same_v<std::remove_cvref_t<U>, Error> && !std::is_same_v<std::remove_cvref_t<U>, Failure>)
      Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::make_unique<Error>(std::move(error))) {}
  Result(Failure failure) : Result(Error{failure.code, {}}) {}
  // NOLINTEND(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    IROPT_CHECK(!ok(), "error() of a success");
    return **std::get_if<1>(&state_);
  }
  Error TakeError() { return error(), std::move(**std::get_if<1>(&state_)); }

 private:
  T& value() {
    IROPT_CHECK(ok(), "value of a failure: {}", error().message);
    return *std::get_if<0>(&state_);
  }
  const T& value() const { return const_cast<Result*>(this)->value(); }

  // With a pointer to the error, a Result of a node pointer has two words.
  std::variant<T, std::unique_ptr<Error>> state_;
};

}  // namespace iropt

// Returns from the enclosing function if `expr`, a Status or a Result, failed.
#define IROPT_RETURN_IF_ERROR(expr)                                                                                    \
  do {                                                                                                                 \
    if (auto iropt_status = (expr); !iropt_status.ok()) return iropt_status.TakeError();                               \
  } while (false)

#define IROPT_RESULT_NAME_2(line) iropt_result_##line
#define IROPT_RESULT_NAME(line) IROPT_RESULT_NAME_2(line)

// `IROPT_ASSIGN_OR_RETURN(auto x, F());` declares or assigns the value of a Result, or returns its error.
#define IROPT_ASSIGN_OR_RETURN(target, expr)                                                                           \
  auto IROPT_RESULT_NAME(__LINE__) = (expr);                                                                           \
  if (!IROPT_RESULT_NAME(__LINE__).ok()) return IROPT_RESULT_NAME(__LINE__).TakeError();                               \
  target = *std::move(IROPT_RESULT_NAME(__LINE__))
