// Names of other formats as identifiers.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "iropt/support/characters.h"

namespace iropt {

// Returns whether the word cannot be the name of a variable in Python, and so in TVMScript.
inline bool IsReservedInPython(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "False",  "None", "True", "and",    "as",    "assert", "async",  "await",    "break", "class",  "continue", "def",
      "del",    "elif", "else", "except", "for",   "from",   "global", "finally",  "if",    "import", "in",       "is",
      "lambda", "not",  "or",   "pass",   "raise", "return", "try",    "nonlocal", "while", "with",   "yield"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

// An identifier for a name, "out_y" for "out/y" and "in_" for "in"; the name itself if it is one.
inline std::string IdentifierFor(std::string_view name) {
  std::string identifier;
  for (const char c : name) identifier.push_back(IsLetterOrDigit(c) ? c : '_');
  if (identifier.empty() || IsDigit(identifier.front())) identifier.insert(0, "v");
  if (IsReservedInPython(identifier)) identifier.push_back('_');
  return identifier;
}

}  // namespace iropt
