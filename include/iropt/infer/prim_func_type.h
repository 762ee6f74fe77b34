// Loop-level functions as seen from the graph level.
#pragma once

#include "iropt/ir/relax/expr.h"

namespace iropt {

// Buffers are tensors, scalars are scalars, other pointers are objects. The variables of buffer shapes become symbolic
// variables of the type's own. Linear in the body, which tells whether the function is pure; without a body it is not.
const Type* PrimFuncType(const PrimFunc* func);

// Whether calling it has no effect but its result: it writes to no buffer of its caller and calls nothing that has
// effects.
bool IsPurePrimFunc(const PrimFunc* func);

}  // namespace iropt
