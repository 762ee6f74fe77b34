// A value or an error. For failures that the user caused; bugs are IROPT_CHECK.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

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

struct ErrorDeleter {
  void operator()(Error* error) const noexcept;
};
// An error on its way from one result to another; not null.
using ErrorPtr = std::unique_ptr<Error, ErrorDeleter>;

// The work of results on their errors. It is out of line, since most functions contain it several times.
ErrorPtr MakeError(const Error& error);
ErrorPtr MakeError(Error&& error);
ErrorPtr MakeError(Failure failure);
[[noreturn]] void FailedResult(const Error* error);  // reports that the value of a failure was asked for
[[noreturn]] void NoError();                         // reports that the error of a success was asked for

template <class T>
class Result;

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // Errors and failures convert to results implicitly. NOLINTBEGIN(google-explicit-constructor)
  Result(const Error& error) : error_(MakeError(error)) {}
  Result(Error&& error) : error_(MakeError(std::move(error))) {}
  Result(ErrorPtr error) : error_(std::move(error)) {}
  Result(Failure failure) : error_(MakeError(failure)) {}
  // NOLINTEND(google-explicit-constructor)

  bool ok() const { return error_ == nullptr; }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    if (ok()) [[unlikely]]
      NoError();
    return *error_;
  }
  Error TakeError() { return error(), std::move(*error_); }
  ErrorPtr TakeErrorPtr() { return error(), std::move(error_); }

 private:
  ErrorPtr error_;
};

using Status = Result<void>;

template <class T>
class [[nodiscard]] Result {
 public:
  // Values, errors and failures convert to results implicitly. NOLINTBEGIN(google-explicit-constructor)
  template <class U = T>
  requires(std::is_constructible_v<T, U&&> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
           !std::is_same_v<std::remove_cvref_t<U>, Error> && !std::is_same_v<std::remove_cvref_t<U>, Failure> &&
           !std::is_same_v<std::remove_cvref_t<U>, ErrorPtr>) Result(U&& value)
      : value_(std::forward<U>(value)), ok_(true) {}
  Result(const Error& error) : Result(MakeError(error)) {}
  Result(Error&& error) : Result(MakeError(std::move(error))) {}
  Result(ErrorPtr error) : error_(error.release()), ok_(false) {}
  Result(Failure failure) : Result(MakeError(failure)) {}
  // NOLINTEND(google-explicit-constructor)

  Result(Result&& other) noexcept { Construct(other); }
  Result& operator=(Result&& other) noexcept {
    if (this != &other) {
      Destroy();
      Construct(other);
    }
    return *this;
  }
  ~Result() { Destroy(); }

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    if (ok_) [[unlikely]]
      NoError();
    return *error_;
  }
  Error TakeError() { return error(), std::move(*error_); }
  // The failure has no error afterwards: only ok(), assignment and destruction are allowed.
  ErrorPtr TakeErrorPtr() { return error(), ErrorPtr(std::exchange(error_, nullptr)); }

 private:
  T& value() {
    if (!ok_) [[unlikely]]
      FailedResult(error_);
    return value_;
  }
  const T& value() const { return const_cast<Result*>(this)->value(); }

  void Construct(Result& other) noexcept {
    ok_ = other.ok_;
    if (ok_) {
      std::construct_at(&value_, std::move(other.value_));
    } else {
      error_ = std::exchange(other.error_, nullptr);
    }
  }
  void Destroy() noexcept {
    if (ok_) {
      std::destroy_at(&value_);
    } else {
      ErrorDeleter()(error_);
    }
  }

  // A union instead of a variant, whose parts would be instantiated for each T. With a pointer to the error, a Result
  // of a node pointer has two words.
  union {
    T value_;
    Error* error_;  // owned; null when it was taken
  };
  bool ok_;
};

}  // namespace iropt

// Returns from the enclosing function if `expr`, a Status or a Result, failed.
#define IROPT_RETURN_IF_ERROR(expr)                                                                                    \
  do {                                                                                                                 \
    if (auto iropt_status = (expr); !iropt_status.ok()) return iropt_status.TakeErrorPtr();                            \
  } while (false)

#define IROPT_RESULT_NAME_2(line) iropt_result_##line
#define IROPT_RESULT_NAME(line) IROPT_RESULT_NAME_2(line)

// `IROPT_ASSIGN_OR_RETURN(auto x, F());` declares or assigns the value of a Result, or returns its error.
#define IROPT_ASSIGN_OR_RETURN(target, expr)                                                                           \
  auto IROPT_RESULT_NAME(__LINE__) = (expr);                                                                           \
  if (!IROPT_RESULT_NAME(__LINE__).ok()) return IROPT_RESULT_NAME(__LINE__).TakeErrorPtr();                            \
  target = *std::move(IROPT_RESULT_NAME(__LINE__))
