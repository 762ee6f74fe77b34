// The functions that a lowering pass works on.
#pragma once

#include <algorithm>
#include <vector>

#include "iropt/ir/module.h"

namespace iropt {

// The names of the module's Relax functions in alphabetical order, which decides the names of functions that a pass
// adds.
inline std::vector<const GlobalVar*> RelaxFunctions(const Module& module) {
  std::vector<const GlobalVar*> names;
  for (const ModuleEntry& entry : module.functions()) {
    if (Is<Function>(entry.func)) names.push_back(entry.var);
  }
  std::ranges::sort(names, {}, [](const GlobalVar* name) { return name->name; });
  return names;
}

}  // namespace iropt
