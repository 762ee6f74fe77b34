// The order in which the reader binds the nodes of a graph, for the writer.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "iropt/ir/relax/expr.h"

namespace iropt::relay {

struct UseOrder {
  // The places of bound variables, those of nested scopes included: from the result of the function back, the operands
  // of a value come before it in their order. Variables that the result does not depend on have none.
  std::unordered_map<const Expr*, uint32_t> places = {};
  // The variables of local functions that refer to themselves.
  std::unordered_set<const Expr*> recursive = {};
};
// O(operands).
UseOrder UseOrderOf(const Function& function);

}  // namespace iropt::relay
