// Elements of a buffer that an iteration of a loop reads and an earlier one wrote.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// Returns whether an iteration of the loop may read an element of the buffer that it has not written itself, so that
// the iterations need one memory for the buffer. Accesses through pointers and views do not count, and neither do those
// of a loop with very many accesses. Blocks must have no initialization, see tir.LowerInitBlock. O(accesses squared),
// plus proofs.
bool ReadsEarlierIterations(const tir::For& loop, const tir::Buffer& buffer, Workspace& workspace);

}  // namespace iropt
