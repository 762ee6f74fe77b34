// Which parameters a PrimFunc writes to.
#pragma once

#include <vector>

#include "iropt/ir/tir/stmt.h"

namespace iropt {

// For each parameter, whether it is matched to a buffer whose memory the function may write: by a store, through a
// matched region, or by handing its pointer to somebody else. O(size of the function).
std::vector<bool> WrittenParams(const PrimFunc& function);

}  // namespace iropt
