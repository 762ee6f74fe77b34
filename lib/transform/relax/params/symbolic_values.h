// Replaces symbolic variables by what match_casts say about them.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// After y = R.match_cast(x, R.Tensor((n, m))) with x of shape (16, k), n is 16 and m is k, as far as the scope of y
// reaches. A branch that computes under such knowledge gets a match_cast at its end that restores the type which the
// conditional had. Fails where two match_casts contradict each other. O(operands), and for the types that change the
// size of the types.
Result<const Function*> SubstituteSymbolicValues(const Function* function, const Module* module, Workspace& workspace,
                                                 DiagnosticEngine& diagnostics);

}  // namespace iropt
