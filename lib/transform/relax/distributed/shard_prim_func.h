// The part of the work of a PrimFunc that one of several devices does.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

struct ShardedPrimFunc {
  const PrimFunc* func;
  // Operation that combines the results of the devices, as R.ccl.allreduce names it; empty if they are parts of the
  // result.
  std::string_view allreduce;
};

// The function on the parts of its buffers that a device has: `types` are those of the tensors that it is called with,
// operands and results; null for scalars. Loops that run over a split axis become shorter. Nothing after an error: a
// loop cannot be split in equal parts, or different tensors ask for different ones.
std::optional<ShardedPrimFunc> ShardPrimFunc(const PrimFunc& func, std::span<const DTensorType* const> types,
                                             Workspace& workspace, DiagnosticEngine& diagnostics);

}  // namespace iropt
