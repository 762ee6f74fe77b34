// Support for passes that store floats as integers.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "transform/tir/dtypes/dtype_set.h"

namespace iropt {

// Memory of narrow floats becomes memory of integers of the same size, which hold their bits. An error if the function
// has buffers as parameters, or uses a buffer of narrow floats whose pointer stays. O(nodes).
const PrimFunc* LegalizeStorage(const PrimFunc* func, DTypePredicate is_narrow, Workspace& workspace,
                                DiagnosticEngine& diagnostics);

}  // namespace iropt
