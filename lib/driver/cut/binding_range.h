// Ranges of bindings of Relax functions, and functions made of them.
#pragma once

#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// Bindings of one sequence that follow each other.
struct BindingRange {
  const SeqExpr* sequence = nullptr;
  size_t first = 0;  // over all blocks of the sequence
  size_t last = 0;   // included
};

// "FIRST..LAST", "FIRST..", "..LAST", or one name. Fails with ErrorCode::Usage and a message about what is wrong.
Result<BindingRange> FindBindingRange(const Function& function, std::string_view range);

struct PieceFunction {
  const Function* function = nullptr;
  FuncStorageRef storage = {};
};

// A function of the bindings, without attributes other than relax.force_pure. CutModule says what its parameters and
// results are. The function is that of the entry. O(size of the sequence).
PieceFunction MakePiece(const ModuleEntry& entry, const BindingRange& range, const Module& module);

}  // namespace iropt
