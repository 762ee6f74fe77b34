// The order in which functions are worked on where what is known of a callee matters to its callers.
#pragma once

#include <cstddef>
#include <vector>

#include "iropt/ir/module.h"

namespace iropt {

// The graph-level functions by their places in the module, each behind those that it refers to; where functions refer
// to each other, in the order of the module. O(nodes).
std::vector<size_t> CalleesFirst(const Module& module);

}  // namespace iropt
