// Stores of values that are overwritten before anything reads them.
#pragma once

#include "iropt/arith/analyzer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

//   for i in range(4, 12):
//       A[i] = 100                  # overwritten
//   for i in range(16):
//       A[i] = 42
//
// Found are stores in loops, branches and sequences that have no effect but stores, where one of the next statements of
// the sequence writes the same elements in any case. O(nodes), times the nesting of loops.
LookupSet<const tir::BufferStore*> FindOverwrittenStores(const tir::Stmt* body, arith::Analyzer& analyzer,
                                                         Workspace& workspace);

// Branches that consist of a store, which would be overwritten in the same way where the condition does not hold, and
// which could be evaluated there: without loads and divisions. All of them may be replaced by their stores.
LookupSet<const tir::IfThenElse*> FindOverwrittenGuards(const tir::Stmt* body, arith::Analyzer& analyzer,
                                                        Workspace& workspace);

}  // namespace iropt
