// Transposes and changes of shape next to each other.
#pragma once

#include "iropt/ir/relax/rewrite_rules.h"

namespace iropt {

// Without a reshape that changes nothing:
//   reshape(permute_dims(reshape(x))) = reshape(permute_dims(x)), where the first reshape only joins axes, and
//   permute_dims(reshape(x)), where the second one only splits them;
//   permute_dims(reshape(permute_dims(x))) = reshape(permute_dims(x)), also of expand_dims and squeeze, where no axes
//   that the reshape joins go to different places; permute_dims next to reshape is a reshape where it moves none but
//   axes of length 1.
void AddSplitTransposeRules(RuleSet& rules);

}  // namespace iropt
