// The size and the cost of a module, for -metrics.
#pragma once

#include <string>
#include <string_view>

#include "iropt/driver/driver_options.h"
#include "iropt/ir/module.h"

namespace iropt {

// For each Relax function, with its local functions, the number of calls and parameters, the bytes of parameters and
// constants, and the multiply-adds; then the operators of the module. Parameters and calls whose sizes are symbolic or
// unknown are counted apart. `input` names the module. Text, or one line of JSON:
//   {"metrics": {"input": "in.ir", "prim_funcs": 0,
//                "functions": [{"name": "main", "calls": 7, "params": 2, "param_bytes": 64, "unknown_params": 1,
//                               "constants": 1, "constant_bytes": 16, "multiply_adds": 4096, "unknown_calls": 0}],
//                "total": {...}, "operators": [{"name": "R.add", "count": 3}, ...]}}
// A constant counts once in a function and once in the total, which is not a sum then. O(size of the functions).
std::string RenderMetrics(const Module& module, std::string_view input, ShownForm form);

}  // namespace iropt
