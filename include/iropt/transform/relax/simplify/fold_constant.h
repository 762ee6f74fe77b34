// Constant folding, for use without the pass manager. See lib/transform/relax/simplify/fold_constant.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

struct FoldOptions {
  // Results that are bigger than this, and bigger than their operands, are not computed.
  size_t max_bytes = size_t{1} << 20;
  // The limit for all results in one function together.
  size_t max_total_bytes = size_t{1} << 30;
  // The limit of elementary operations for one result.
  uint64_t max_work = uint64_t{1} << 28;
  // Gets a remark if calls are not folded because of these limits; null for none.
  DiagnosticEngine* remarks = nullptr;
};

// The same pointer if there is nothing to fold. The PrimFuncs of call_tir are looked up in `module`. New nodes are
// allocated in the workspace.
const Function* FoldConstants(const Function* function, const Module& module, Workspace& workspace,
                              const FoldOptions& options = {});

}  // namespace iropt
