// The errors of assertions, in loops and in Relax functions, interpreted or compiled.
#pragma once

#include <string>
#include <string_view>

namespace iropt {

inline constexpr std::string_view kAssertionFailed = "assertion failed";

// "assertion failed: the message".
inline std::string AssertionFailure(std::string_view message) {
  std::string text(kAssertionFailed);
  if (!message.empty()) text.append(": ").append(message);
  return text;
}

inline constexpr std::string_view kMatchCastFailed = "match_cast: expected ";

// Returns whether the message of an error, which may name the function first, is that of an assertion or of a
// match_cast.
inline bool IsAssertionFailure(std::string_view message) {
  return message.find(kAssertionFailed) != message.npos || message.find(kMatchCastFailed) != message.npos;
}

}  // namespace iropt
