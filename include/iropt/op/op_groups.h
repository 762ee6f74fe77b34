// Operators that are handled alike.
#pragma once

#include "iropt/op/op_id.h"

namespace iropt {

// Returns whether it is one of R.inspect.*, which look at a tensor at run time. O(1).
bool IsInspection(OpId id);

// Returns whether it is call_tir or one of its variants, which call a PrimFunc with a tuple of operands. O(1).
bool IsCallTir(OpId id);

}  // namespace iropt
