// The expressions of a function to bind to variables, and the places of the bindings. For tir.CommonSubexprElim.
#pragma once

#include <vector>

#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

// An expression that is computed several times.
struct SharedSubexpr {
  const PrimExpr* expr;       // the first one
  const tir::Stmt* position;  // it is bound before this statement, for the rest of the sequence that it is in
};

struct SubexprPlan {
  // Those that contain others come after them.
  std::vector<SharedSubexpr> shared;
  // The expressions that are equal to shared[i], by their nodes.
  LookupMap<const PrimExpr*, size_t> shared_of;
};

// Expressions count that compute something, do not load or call, and are not conditions. An occurrence within a larger
// shared one does not count, since that is computed once. O(n log n) in the number of nodes.
SubexprPlan PlanSubexprs(const tir::Stmt* body);

}  // namespace iropt
