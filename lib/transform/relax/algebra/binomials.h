// Rules about quadratic forms of two tensors.
#pragma once

#include "iropt/ir/relax/rewrite_rules.h"

namespace iropt {

// a x x + b x y + c y y = a (x + r y) (x + s y), where -r and -s are the roots of a z z + b z + c. Integers have
// to have roots that are integers. Floats, which are left out unless `with_floats`, are rounded at other places, and
// infinities may give NaNs or not.
void AddBinomialRules(RuleSet& rules, bool with_floats);

}  // namespace iropt
