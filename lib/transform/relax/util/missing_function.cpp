#include "missing_function.h"

#include <fmt/format.h>

#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/support/edit_distance.h"

namespace iropt {

std::string DescribeMissingFunction(const Module& module, std::string_view name) {
  std::vector<std::string_view> names;
  for (const ModuleEntry& entry : module.functions()) {
    if (Is<Function>(entry.func)) names.push_back(entry.var->name);
  }
  return fmt::format("the module has no Relax function '{}'{}", name, DidYouMeanOr("; it has ", name, names));
}

}  // namespace iropt
