#include "driver/pipeline/pass_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/support/regular_expression.h"

namespace iropt {

std::vector<std::string> NamesOf(const std::vector<LocatedName>& names) {
  std::vector<std::string> result;
  result.reserve(names.size());
  for (const LocatedName& name : names) result.push_back(name.name);
  return result;
}

bool IsNamePattern(std::string_view text) { return text.find_first_of("*+?[](){}|^$\\") != std::string_view::npos; }

Result<std::vector<std::string>> NamesMatching(const std::string& pattern, std::span<const std::string_view> names) {
  IROPT_ASSIGN_OR_RETURN(const RegularExpression whole, RegularExpression::Make(fmt::format("^({})$", pattern)));
  std::vector<std::string> matching;
  for (const std::string_view name : names) {
    std::string text(name);
    if (whole.Matches(text) && std::ranges::find(matching, text) == matching.end()) matching.push_back(std::move(text));
  }
  return matching;
}

}  // namespace iropt
