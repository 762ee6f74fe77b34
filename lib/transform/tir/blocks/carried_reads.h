// Elements of a buffer that an iteration of a loop reads and an earlier one wrote.
#pragma once

#include <span>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// Returns whether an iteration of the loop may read an element of the buffer that an earlier one wrote, so that the
// iterations need one memory for the buffer. `outer`: the loops around it, from the outermost inwards. Accesses through
// pointers and views do not count, and neither do those of a loop with very many accesses. Blocks must have no
// initialization, see tir.LowerInitBlock. O(accesses squared), plus proofs.
bool ReadsEarlierIterations(const tir::For& loop, std::span<const tir::For* const> outer, const tir::Buffer& buffer,
                            Workspace& workspace);

}  // namespace iropt
