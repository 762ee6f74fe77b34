// The functions that run when a function is called.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// Visits the function and those that it calls, directly or not, each once: the first few hundred. O(nodes).
void ForEachReachable(const Module& module, const GlobalVar& function, FunctionRef<void(const BaseFunc&)> visit);

}  // namespace iropt
