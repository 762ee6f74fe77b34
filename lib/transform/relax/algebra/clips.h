// Rules of SimplifyExpr for clips of integers next to conversions.
#pragma once

#include "iropt/ir/relax/rewrite_rules.h"

namespace iropt {

void AddClipRules(RuleSet& rules);

}  // namespace iropt
