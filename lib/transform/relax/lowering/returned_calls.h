// The calls whose results a function only returns.
#pragma once

#include <unordered_set>

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"

namespace iropt {

// The calls of vision.all_class_non_max_suppression whose selected rows only callers outside of the module see: the
// function passes them on as its result, at most in tuples and under other names, and no function of the module refers
// to it. The number of rows, which is the second result, may have any use. O(nodes of the function); of the module if
// the function has such a call.
std::unordered_set<const Call*> FindReturnedCalls(const Module& module, const GlobalVar& name,
                                                  const Function& function);

}  // namespace iropt
