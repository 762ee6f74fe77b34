#include "driver/session/module_part.h"

#include "iropt/analysis/relax/called_functions.h"

namespace iropt {

Module PartOf(const Module& module, std::vector<const GlobalVar*> roots) {
  std::vector<bool> keep(module.size());
  while (!roots.empty()) {
    const int index = module.IndexOf(roots.back());
    roots.pop_back();
    if (index < 0 || keep[static_cast<size_t>(index)]) continue;
    keep[static_cast<size_t>(index)] = true;
    const ModuleEntry& entry = module.functions()[static_cast<size_t>(index)];
    const CalledFunctions::Result called = CalledFunctions::Compute(*entry.func, *entry.storage);
    roots.insert(roots.end(), called.begin(), called.end());
  }
  Module part = module;
  part.Filter(keep);
  return part;
}

}  // namespace iropt
