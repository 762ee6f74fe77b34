// The calls whose results a function only returns.
#pragma once

#include <unordered_set>

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"

namespace iropt {

// The calls of operators that count rows (IROPT_LEGALIZE_COUNTED) whose rows only callers outside of the module see:
// the function passes them on as its result, at most in tuples and under other names, and no function of the module
// refers to it. The number of rows may have any use. O(nodes of the function); of the module if the function has such a
// call.
std::unordered_set<const Call*> FindReturnedCalls(const Module& module, const GlobalVar& name,
                                                  const Function& function);

}  // namespace iropt
