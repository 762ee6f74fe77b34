// Hash maps from expressions.
#pragma once

#include <cstddef>

#include "iropt/ir/structural.h"
#include "iropt/support/lookup.h"

namespace iropt {

struct DeepHash {
  size_t operator()(const PrimExpr* expr) const { return StructuralHash(expr); }
};
struct DeepEqualTo {
  bool operator()(const PrimExpr* a, const PrimExpr* b) const { return DeepEqual(a, b); }
};

// Equal keys are those that DeepEqual calls equal.
template <class T>
using ExprMap = LookupMap<const PrimExpr*, T, DeepHash, DeepEqualTo>;

}  // namespace iropt
