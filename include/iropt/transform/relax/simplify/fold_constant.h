// Constant folding, for use without the pass manager. See lib/transform/relax/simplify/fold_constant.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "iropt/analysis/relax/inference_calls.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/op/op_id.h"

namespace iropt {

struct FoldOptions {
  // Results that are bigger than this, and bigger than their operands, are not computed.
  size_t max_bytes = size_t{1} << 20;
  // Operands that are bigger than this are not read from files.
  size_t max_file_bytes = size_t{1} << 24;
  // The limit for all results in one function together, in addition to some times the size of its constants: many small
  // results are big, too.
  size_t max_total_bytes = size_t{1} << 26;
  // The limits of elementary operations for one result, and for all results in one function together, where a step of
  // a PrimFunc counts as kWorkOfStep of them.
  uint64_t max_work = uint64_t{1} << 28;
  uint64_t max_total_work = uint64_t{1} << 34;
  // By how many bytes the constants of a function may grow in all: calls whose results make them grow by more stay.
  // None: by any number, up to the limits above.
  std::optional<size_t> max_growth = {};
  bool counts_calls = false;             // the limit is one of what constants and calls take in a file
  NetworkMode mode = NetworkMode::Auto;  // of batch_norm and dropout
  std::vector<OpId> skip_ops = {};       // operators whose calls stay
};

// Replaces calls whose operands are constants by their results. The same pointer if there is nothing to fold. The
// PrimFuncs of call_tir are looked up in `module`. New nodes are allocated in the workspace. `diagnostics`, if not
// null, get a remark if calls are not folded because of the limits.
const Function* FoldConstants(const Function* function, const Module& module, Workspace& workspace,
                              const FoldOptions& options = {}, DiagnosticEngine* diagnostics = nullptr);

}  // namespace iropt
