// One place of a transposed axis.
#pragma once

#include "iropt/ir/relax/rewrite_rules.h"

namespace iropt {

// take(permute_dims(x), i, axis) = take(x, i, its axis), where the other axes keep their order without the one that is
// taken. So does a reshape that only splits axes between the two: it comes first. ShuffleNet's channels are split like
// that.
void AddTakenPlaceRules(RuleSet& rules);

}  // namespace iropt
