// The parameters that a PrimFunc writes to, and those that it reads before.
#pragma once

#include <vector>

#include "iropt/ir/tir/stmt.h"

namespace iropt {

// For each parameter, true if it is matched to a buffer that the function may write to: by a store, through a matched
// region, or because its pointer is passed on. O(size of the function).
std::vector<bool> WrittenParams(const PrimFunc& function);

// For each parameter, true if the first access to its buffer, in the order of the program, is a load: then the function
// needs a value of it, also if it writes to the buffer later. O(size of the function).
std::vector<bool> ParamsReadFirst(const PrimFunc& function);

}  // namespace iropt
