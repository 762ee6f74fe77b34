// PrimFuncs as seen from Relax.
#pragma once

#include "iropt/ir/relax/expr.h"

namespace iropt {

// Buffers are tensors, scalars are scalars, other pointers are objects. The variables of buffer shapes become new
// symbolic variables of the type. Linear in the body, which decides whether the function is pure; without a body it is
// not.
const Type* PrimFuncType(const PrimFunc* func);

// Returns whether calling it has no effect but its result: it writes no buffer of its caller and calls no function that
// has effects.
bool IsPurePrimFunc(const PrimFunc* func);

}  // namespace iropt
