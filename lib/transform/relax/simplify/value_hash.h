// Hashing and comparing what bindings compute, for finding equal values.
#pragma once

#include <cstdint>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// What a binding computes: its value, and for a match_cast the type that is checked.
struct BoundValue {
  const Expr* value;
  const Type* cast = nullptr;
};

BoundValue BoundValueOf(const Binding* binding);

// Equal values have equal hashes. Variables are equal to themselves alone; constants are compared by content, of which
// the hash sees a sample. O(operands), but for conditionals and functions, of which the hash sees the sizes only.
uint32_t HashOf(const BoundValue& value);
bool SameValue(const BoundValue& a, const BoundValue& b);

}  // namespace iropt
