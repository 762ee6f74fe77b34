// Constant folding, for use without the pass manager. See lib/transform/relax/simplify/fold_constant.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "iropt/ir/module.h"

namespace iropt {

struct FoldOptions {
  // A result that is bigger than this, and bigger than the constants that it is computed from, is not computed.
  size_t max_bytes = size_t{1} << 20;
  // Of all results in one function together: many small ones are big, too.
  size_t max_total_bytes = size_t{1} << 30;
  // Elementary operations that one result may take.
  uint64_t max_work = uint64_t{1} << 28;
};

// The same pointer where nothing is to be done. `module` is where call_tir finds loop-level functions. New nodes are
// made in the workspace.
const Function* FoldConstants(const Function* function, const Module& module, Workspace& workspace,
                              const FoldOptions& options = {});

}  // namespace iropt
