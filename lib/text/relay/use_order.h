// The order in which the reader binds the nodes of a graph, for the writer.
#pragma once

#include <cstdint>

#include "iropt/ir/relax/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::relay {

struct UseOrder {
  // The places of bound variables, those of nested scopes included: from the result of the function back, the operands
  // of a value come before it in their order. Variables that the result does not depend on have none.
  LookupMap<const Expr*, uint32_t> places = {};
  // The variables of local functions that refer to themselves.
  LookupSet<const Expr*> recursive = {};
};
// O(operands).
UseOrder UseOrderOf(const Function& function);

}  // namespace iropt::relay
