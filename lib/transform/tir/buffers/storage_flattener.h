// Memory for buffers that are realized.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// The function with allocations of the dimensions of the memory, see tir.StorageFlatten.
const PrimFunc* FlattenStorage(const PrimFunc* func, bool create_bounds, Workspace& workspace,
                               DiagnosticEngine& diagnostics);

}  // namespace iropt
