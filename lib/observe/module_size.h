// The size of a module in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "iropt/ir/module.h"

namespace iropt {

// Expressions of Relax functions, nested ones included, and statements and scalar expressions of PrimFuncs, each at
// every occurrence. O(nodes).
uint64_t CountNodes(const Module& module);

// The bytes in the arenas of the functions, which may share arenas. O(functions + arenas).
size_t ArenaBytes(const Module& module);

}  // namespace iropt
