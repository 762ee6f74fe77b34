// Moving multiplications into weights as Relay's passes ForwardFoldScaleAxis and BackwardFoldScaleAxis do.
#pragma once

#include "iropt/pass/pass.h"

namespace iropt {

// Factors and weights may be computed at run time: the factor is squeezed to a vector and multiplied to the weight. It
// must consist of positive constants to pass through an activation, and, to pass through a sum on its way forward, of
// constants that are not zero. Each multiplication moves alone. O(nodes).
Result<const Function*> FoldForwardAsRelay(const Function* function, FunctionPassContext& context);
Result<const Function*> FoldBackwardAsRelay(const Function* function, FunctionPassContext& context);

}  // namespace iropt
