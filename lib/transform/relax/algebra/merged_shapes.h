// Rules of SimplifyExpr for neighbouring operators that move elements or change shapes.
#pragma once

#include "iropt/ir/relax/rewrite_rules.h"

namespace iropt {

void AddMergedShapeRules(RuleSet& rules);

}  // namespace iropt
