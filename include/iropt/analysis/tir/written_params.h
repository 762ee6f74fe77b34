// The parameters that a PrimFunc writes to.
#pragma once

#include <vector>

#include "iropt/ir/tir/stmt.h"

namespace iropt {

// For each parameter, true if it is matched to a buffer that the function may write to: by a store, through a matched
// region, or because its pointer is passed on. O(size of the function).
std::vector<bool> WrittenParams(const PrimFunc& function);

}  // namespace iropt
