// The functions that the Relax functions of a module refer to.
#pragma once

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/pass/analysis.h"
#include "iropt/pass/pass.h"
#include "iropt/support/lookup.h"

namespace iropt {

using GlobalVarSet = LookupSet<const GlobalVar*>;

inline GlobalVarSet CalledByGraph(const Module& module, ModulePassContext& context) {
  GlobalVarSet called;
  for (const ModuleEntry& entry : module.functions()) {
    if (Is<PrimFunc>(entry.func)) continue;
    const auto references = context.Analysis<CalledFunctions>(entry);
    called.InsertAll(*references);
  }
  return called;
}

}  // namespace iropt
