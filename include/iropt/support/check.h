// Checks of the program's own assumptions. A failed check is a bug in ir-opt, never a reaction to bad input: it throws
// a CheckFailure (check_failure.h) with the text `internal error: file:line: ...`. The tools print the text and end
// with exit code 70 instead. Checks stay on in release builds.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace iropt {

// One formatted argument of a check message. A closed set of types keeps fmt out of this header, which everything
// includes.
class CheckArg {
 public:
  enum class Kind : uint8_t { Signed, Unsigned, Float, Text, Pointer, Bool, Char };

  template <class T>
  CheckArg(const T& value) {  // NOLINT(google-explicit-constructor): arguments convert at the macro's call
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::Bool, unsigned_ = value;
    } else if constexpr (std::is_same_v<T, char>) {
      kind_ = Kind::Char, signed_ = value;
    } else if constexpr (std::is_enum_v<T>) {
      kind_ = Kind::Signed, signed_ = static_cast<int64_t>(value);
    } else if constexpr (std::signed_integral<T>) {
      kind_ = Kind::Signed, signed_ = value;
    } else if constexpr (std::unsigned_integral<T>) {
      kind_ = Kind::Unsigned, unsigned_ = value;
    } else if constexpr (std::floating_point<T>) {
      kind_ = Kind::Float, float_ = static_cast<double>(value);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      kind_ = Kind::Text, text_ = value;
    } else {
      kind_ = Kind::Pointer, pointer_ = static_cast<const void*>(value);
    }
  }

  Kind kind() const { return kind_; }
  int64_t signed_value() const { return signed_; }
  uint64_t unsigned_value() const { return unsigned_; }
  double float_value() const { return float_; }
  std::string_view text() const { return text_; }
  const void* pointer() const { return pointer_; }

 private:
  Kind kind_;
  union {
    int64_t signed_;
    uint64_t unsigned_;
    double float_;
    std::string_view text_;
    const void* pointer_;
  };
};

// Throws or prints `internal error: file:line: what: message`. Each `{}` in `format` takes the next argument.
[[noreturn]] void InternalError(const char* file, int line, const char* what, std::string_view format,
                                std::span<const CheckArg> args);

namespace check_detail {

// Arguments by value through a variadic, so that a failing check inlines only a call into the caller.
template <class... Args>
[[noreturn, gnu::noinline, gnu::cold]] void Fail(const char* file, int line, const char* what,
                                                 std::string_view format = {}, const Args&... args) {
  const std::array<CheckArg, sizeof...(Args) + 1> list{CheckArg(args)..., CheckArg(0)};
  InternalError(file, line, what, format, std::span<const CheckArg>(list.data(), sizeof...(Args)));
}

}  // namespace check_detail
}  // namespace iropt

// IROPT_CHECK(condition) or IROPT_CHECK(condition, "format {}", arguments...). Arguments are only evaluated on failure.
#define IROPT_CHECK(condition, ...)                                                                                    \
  do {                                                                                                                 \
    if (!(condition)) [[unlikely]]                                                                                     \
      ::iropt::check_detail::Fail(__FILE__, __LINE__, "check failed: " #condition __VA_OPT__(, ) __VA_ARGS__);         \
  } while (false)

// Marks code that no correct program reaches: IROPT_UNREACHABLE("format {}", arguments...).
#define IROPT_UNREACHABLE(...) ::iropt::check_detail::Fail(__FILE__, __LINE__, "unreachable" __VA_OPT__(, ) __VA_ARGS__)
