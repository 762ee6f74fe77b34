// The operands of calls that nothing needs after the call, so that the call may overwrite them.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Operands by the variables that the calls are bound to.
using InplaceOperands = LookupMap<const Var*, uint32_t>;

// For each call of a dataflow block that `supports` accepts: the last operand whose memory nothing reads after the call
// and that has the dtype and provably the shape of the result. Parameters, constants, results of functions and values
// from outside of the block are never overwritten. O(nodes of the block).
InplaceOperands FindInplaceOperands(const BindingBlock& block, const Module& module,
                                    FunctionRef<bool(const Call&)> supports);

}  // namespace iropt
