// Rules of SimplifyExpr for tensors all of whose elements are one constant, and for neighbouring operators with
// constants.
#pragma once

#include "iropt/ir/relax/rewrite_rules.h"

namespace iropt {

void AddFilledTensorRules(RuleSet& rules);
void AddNeighbourRules(RuleSet& rules);

}  // namespace iropt
