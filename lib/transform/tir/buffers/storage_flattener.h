// Memory for buffers that are realized.
#pragma once

#include <cstdint>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

struct StorageFlattenOptions {
  int64_t cache_line_size;      // in bytes, for prefetches
  bool create_bound_attribute;  // around allocations and stores
};

// The function with allocations of the dimensions of the memory, see tir.StorageFlatten.
const PrimFunc* FlattenStorage(const PrimFunc* func, const StorageFlattenOptions& options, Workspace& workspace,
                               DiagnosticEngine& diagnostics);

}  // namespace iropt
