// Scalars that R.call_tir passes to PrimFuncs. Until TVM 0.25 they are the operand tir_vars, and come after the results
// among the parameters of the PrimFunc; from 0.26 on they are the last of the arguments, before the results. Modules
// have the older form.
#pragma once

#include <unordered_map>

#include "iropt/ir/module.h"

namespace iropt::text {

// Numbers of the scalars, and of the results in memory, that calls of a PrimFunc pass.
struct ScalarArgs {
  uint32_t scalars = 0;
  uint32_t results = 0;

  friend bool operator==(const ScalarArgs&, const ScalarArgs&) = default;
};
using ScalarArgsByFunc = std::unordered_map<const GlobalVar*, ScalarArgs>;

// Brings calls in the newer form to the older one, with the parameters of the functions that they call. A function that
// is used in another way, or differently by different calls, stays as it is. O(nodes), if a PrimFunc has scalars.
void MoveScalarsToTirVars(Module& module);

// The functions whose calls have tir_vars, which the newer form prints before the results.
ScalarArgsByFunc FindTirVars(const Module& module);

}  // namespace iropt::text
