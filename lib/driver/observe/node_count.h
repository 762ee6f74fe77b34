// The size of a module in nodes.
#pragma once

#include <cstdint>

#include "iropt/ir/module.h"

namespace iropt {

// Expressions of Relax functions, nested ones included, and statements and scalar expressions of PrimFuncs, each at
// every occurrence. O(nodes).
uint64_t CountNodes(const Module& module);

}  // namespace iropt
