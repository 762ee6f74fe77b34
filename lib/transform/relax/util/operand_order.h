// The order of bindings that is that of their uses, which does not depend on how a pass has put them together.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"

namespace iropt {

// Sorts the bindings of dataflow blocks by UseOrder. Unused bindings stay after the others; a block with a match_cast
// stays as it is. The same pointer if nothing changes. O(operands + bindings log bindings).
const Function* SortByOperands(const Function* function, Workspace& workspace);
// Sorts the bindings of a function of the module that was made from `before`, unless `before` has another order, such
// as the one of the lets of Relay.
const Function* SortIfSorted(const Function* function, const Function* before, const Module* module,
                             Workspace& workspace);

}  // namespace iropt
