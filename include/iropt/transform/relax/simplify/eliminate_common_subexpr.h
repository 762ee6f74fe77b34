// Eliminates common subexpressions.
#pragma once

#include "iropt/ir/module.h"

namespace iropt {

struct CommonSubexprOptions {
  bool call_only = false;  // merge only calls: no tuples, projections, constants, casts
  // A DataflowVar becomes an output of its block where a later block has its value. Casts of one variable that name its
  // dimensions differently give them one name.
  bool all_values = false;
};

// The function with each repeated value replaced by the variable that has it already; the same pointer if there is
// none. `module` provides the purity of functions.
const Function* EliminateCommonSubexpr(const Function* function, const Module* module, Workspace& workspace,
                                       CommonSubexprOptions options = {});

}  // namespace iropt
