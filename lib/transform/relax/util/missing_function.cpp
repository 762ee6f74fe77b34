#include "missing_function.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/support/edit_distance.h"

namespace iropt {

std::string DescribeMissingFunction(const Module& module, std::string_view name) {
  constexpr size_t kMostNames = 5;
  std::vector<std::string_view> names;
  for (const ModuleEntry& entry : module.functions()) {
    if (Is<Function>(entry.func)) names.push_back(entry.var->name);
  }
  std::string message = fmt::format("the module has no Relax function '{}'", name);
  if (const std::optional<std::string_view> nearest = NearestName(name, names))
    return fmt::format("{}; did you mean '{}'?", message, *nearest);
  if (names.empty() || names.size() > kMostNames) return message;
  return fmt::format("{}; it has {}", message, fmt::join(names, ", "));
}

}  // namespace iropt
