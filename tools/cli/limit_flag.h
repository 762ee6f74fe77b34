// Values of flags that are limits.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "iropt/observe/run_limits.h"
#include "iropt/support/result.h"

namespace iropt {

// Reads the value of a flag that is given, with a function of run_limits.h.
template <class T>
Status TranslateLimit(std::string_view flag, const std::optional<std::string>& text,
                      Result<T> (*parse)(std::string_view), T& limit) {
  if (!text) return {};
  Result<T> value = parse(*text);
  if (!value.ok()) return Error{ErrorCode::Usage, fmt::format("flag '{}': {}", flag, value.error().message)};
  limit = *value;
  return {};
}

}  // namespace iropt
