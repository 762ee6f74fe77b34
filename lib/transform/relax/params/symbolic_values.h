// Replaces symbolic variables by the values that match_casts give them.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// After y = R.match_cast(x, R.Tensor((n, m))) with x of shape (16, k), n is 16 and m is k in the scope of y. A branch
// in which such values are used gets a match_cast at its end that restores the type of the conditional. Fails if two
// match_casts contradict each other. O(operands + size of the types that change).
Result<const Function*> SubstituteSymbolicValues(const Function* function, const Module* module, Workspace& workspace,
                                                 DiagnosticEngine& diagnostics);

}  // namespace iropt
