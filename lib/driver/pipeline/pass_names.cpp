#include "driver/pipeline/pass_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

Result<std::vector<LocatedName>> LocateNames(CompilerInstance& compiler, const char* flag,
                                             const std::vector<std::string>& names) {
  std::vector<LocatedName> located;
  if (names == std::vector<std::string>{""}) return located;  // "-disable=" names nothing
  IROPT_ASSIGN_OR_RETURN(uint32_t base, compiler.AddText(flag, fmt::format("{}", fmt::join(names, ","))));
  for (const std::string& name : names) {
    const auto end = static_cast<uint32_t>(base + name.size());
    located.push_back({name, {base, end}});
    base = end + 1;
  }
  return located;
}

}  // namespace iropt
