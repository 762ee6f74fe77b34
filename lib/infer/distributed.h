// Type rules of operators over tensors that are distributed over a device mesh. Private to lib/infer.
#pragma once

#include "iropt/infer/infer.h"

namespace iropt {

// Returns whether an operand is a distributed tensor. Operands in tuples do not count.
bool HasDistributedOperand(const Call& call);
// The type of a call with such an operand: the type of the whole result by the ordinary rule, and its placement.
const Type* InferDistributed(const Call& call, InferContext& ctx);

}  // namespace iropt
