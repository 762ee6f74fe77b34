// Transposes between two reshapes.
#pragma once

#include "iropt/ir/relax/rewrite_rules.h"

namespace iropt {

// reshape(permute_dims(reshape(x))) = reshape(permute_dims(x)), where the first reshape only joins axes, and
// permute_dims(reshape(x)), where the second one only splits them. Without a reshape that changes nothing.
void AddSplitTransposeRules(RuleSet& rules);

}  // namespace iropt
