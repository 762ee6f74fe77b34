// The functions that the Relax functions of a module refer to.
#pragma once

#include <unordered_set>

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/pass/analysis.h"
#include "iropt/pass/pass.h"

namespace iropt {

// Looked up, never iterated.
using GlobalVarSet = std::unordered_set<const GlobalVar*>;

inline GlobalVarSet CalledByGraph(const Module& module, ModulePassContext& context) {
  GlobalVarSet called;
  for (const ModuleEntry& entry : module.functions()) {
    if (Is<PrimFunc>(entry.func)) continue;
    const auto references = context.Analysis<CalledFunctions>(entry);
    called.insert(references->begin(), references->end());
  }
  return called;
}

}  // namespace iropt
