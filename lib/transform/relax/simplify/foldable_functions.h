#pragma once

#include <cstddef>

#include "iropt/ir/module.h"

namespace iropt {

// The number of functions with bindings of nothing but constants, without which nothing is folded. O(operands).
size_t CountFoldable(const Module& module);

}  // namespace iropt
