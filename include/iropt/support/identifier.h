// Names of other formats as identifiers.
#pragma once

#include <string>
#include <string_view>

#include "iropt/support/characters.h"

namespace iropt {

// An identifier for a name, "out_y" for "out/y"; the name itself if it is one.
inline std::string IdentifierFor(std::string_view name) {
  std::string identifier;
  for (const char c : name) identifier.push_back(IsLetterOrDigit(c) ? c : '_');
  if (identifier.empty() || IsDigit(identifier.front())) identifier.insert(0, "v");
  return identifier;
}

}  // namespace iropt
