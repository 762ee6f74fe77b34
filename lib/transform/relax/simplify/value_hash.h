// Hashing and comparing bound values, for common subexpression elimination.
#pragma once

#include <cstdint>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// The value of a binding, and for a match_cast the type that is checked.
struct BoundValue {
  const Expr* value;
  const Type* cast = nullptr;
};

BoundValue BoundValueOf(const Binding* binding);

// Equal values have equal hashes. Variables are equal only to themselves; constants are compared by content, of which a
// sample is hashed. O(operands), except for conditionals and functions, of which only the sizes are hashed.
uint32_t HashOf(const BoundValue& value);
bool SameValue(const BoundValue& a, const BoundValue& b);

}  // namespace iropt
