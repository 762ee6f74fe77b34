// The size and the cost of a module, for -metrics.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "iropt/ir/module.h"
#include "iropt/observe/options.h"

namespace iropt {

// The work of a module, and the bytes of its weights.
struct ModuleCost {
  uint64_t multiply_adds = 0;
  uint64_t unknown_calls = 0;   // whose multiply-adds the types do not tell
  uint64_t constant_bytes = 0;  // each constant once
  uint64_t param_bytes = 0;     // of parameters of known sizes
};

// O(size of the Relax functions).
ModuleCost CostOf(const Module& module);

// For each Relax function, with its local functions, the number of calls and parameters, the bytes of parameters and
// constants, and the multiply-adds; then the operators of the module, and how many there were `before` the passes if
// the numbers differ. Parameters and calls whose sizes are symbolic or unknown are counted apart. `input` names the
// module. Text, or one line of JSON:
//   {"metrics": {"input": "in.ir", "prim_funcs": 0,
//                "functions": [{"name": "main", "calls": 7, "params": 2, "param_bytes": 64, "unknown_params": 1,
//                               "constants": 1, "constant_bytes": 16, "multiply_adds": 4096, "unknown_calls": 0}],
//                "total": {...}, "operators": [{"name": "R.add", "before": 5, "count": 3}, ...]}}
// A constant counts once in a function and once in the total, which is not a sum then. O(size of the functions).
std::string RenderMetrics(const Module& module, const std::map<std::string, uint64_t>& before, std::string_view input,
                          ShownForm form);

}  // namespace iropt
