// Bare words: an alternative to quoted strings, numbers and the other atoms of JSON in pipeline strings.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "iropt/pass/option_value.h"
#include "iropt/support/characters.h"

namespace iropt {

inline bool IsWordChar(char c) {
  return IsLetterOrDigit(c) || c == '_' || c == '.' || c == '-' || c == '+' || c == '/';
}

inline bool IsWord(std::string_view text) { return !text.empty() && std::ranges::all_of(text, IsWordChar); }

// The value of a word: an atom of JSON, else a string; nothing if it is a number that has no representation.
std::optional<OptionValue> WordValue(std::string_view word);

}  // namespace iropt
