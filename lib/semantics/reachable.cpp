#include "reachable.h"

#include <algorithm>
#include <vector>

#include "iropt/analysis/relax/called_functions.h"

namespace iropt {

void ForEachReachable(const Module& module, const GlobalVar& function, FunctionRef<void(const BaseFunc&)> visit) {
  constexpr size_t kMostFunctions = 256;
  std::vector<const GlobalVar*> found{&function};
  for (size_t i = 0; i < std::min(found.size(), kMostFunctions); ++i) {
    const ModuleEntry* entry = module.Find(found[i]);
    if (!entry) continue;
    visit(*entry->func);
    for (const GlobalVar* called : CalledFunctions::Compute(*entry->func, *entry->storage)) {
      if (std::ranges::find(found, called) == found.end()) found.push_back(called);
    }
  }
}

}  // namespace iropt
