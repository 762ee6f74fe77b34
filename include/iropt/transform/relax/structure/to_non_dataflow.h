// Turns dataflow blocks into ordinary blocks.
#pragma once

#include "iropt/ir/module.h"

namespace iropt {

// The function without dataflow blocks and dataflow variables; the same pointer if it has none. `module` gives the
// types of global functions.
const Function* ToNonDataflow(const Function* function, const Module* module, Workspace& workspace);

}  // namespace iropt
