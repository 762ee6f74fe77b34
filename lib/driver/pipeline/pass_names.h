// Names of passes, and regular expressions for them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/driver/compiler_instance.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/result.h"

namespace iropt {

std::vector<std::string> NamesOf(const std::vector<LocatedName>& names);

// Returns whether the text has characters of a regular expression that a name of a pass does not have.
bool IsNamePattern(std::string_view text);

// The names that the POSIX extended regular expression matches as a whole, each once. Fails as RegularExpression::Make.
Result<std::vector<std::string>> NamesMatching(const std::string& pattern, std::span<const std::string_view> names);

// Names that follow a flag, with their places in it.
Result<std::vector<LocatedName>> LocateNames(CompilerInstance& compiler, const char* flag,
                                             const std::vector<std::string>& names);

}  // namespace iropt
