// Reshapes and transposes that keep the columns of a matrix, behind products with weights.
#pragma once

#include <cstdint>
#include <optional>

#include "iropt/ir/relax/expr.h"
#include "iropt/ir/relax/rewrite_rules.h"

namespace iropt {

// The axis of the result of a reshape or of a permute_dims that an axis of the operand becomes: as long, and with as
// many elements in the axes after it if it is a reshape. Nothing if there is none, it has the length 1, or a type is
// not known.
std::optional<int64_t> AxisAfter(const Call& move, int64_t axis);

// move(x) + c = move(x + c) for these, where x is a product with weights, next to which the terms may become part of an
// operator: `c` has one for each column.
void AddTermOfReshapeRules(RuleSet& rules);

}  // namespace iropt
