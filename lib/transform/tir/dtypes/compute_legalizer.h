// Support for passes that compute in a wider float format than values are stored in.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "transform/tir/dtypes/dtype_set.h"

namespace iropt {

// The formats to replace, and the one that replaces them.
struct ComputePromotion {
  DTypePredicate is_narrow;
  DataType wide;  // a scalar
};

// Operations on narrow floats become operations on wide ones. Loads are converted, and so is what is stored, by
// operations on bits. Allocations of constant size become wide if only loads and stores use them; the buffers of
// parameters stay narrow. O(nodes).
const PrimFunc* LegalizeCompute(const PrimFunc* func, const ComputePromotion& promotion, Workspace& workspace,
                                DiagnosticEngine& diagnostics);

}  // namespace iropt
