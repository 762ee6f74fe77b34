// Rules about the order of dequantized numbers.
#pragma once

#include "iropt/ir/relax/rewrite_rules.h"

namespace iropt {

// argmax, argmin and argsort of a tensor that is dequantized by one positive scale are those of the integers.
void AddDequantizedOrderRules(RuleSet& rules);

}  // namespace iropt
