// Reshapes that keep the columns of a matrix, behind products with weights.
#pragma once

#include <cstdint>
#include <optional>

#include "iropt/ir/relax/rewrite_rules.h"
#include "iropt/ir/type.h"

namespace iropt {

// The axis of the result that the last axis of the operand of a reshape becomes: after it, no axis is longer than 1.
// Nothing if there is none, or a type is not known.
std::optional<int64_t> AxisOfColumns(const TensorType* before, const TensorType* after);

// reshape(x) + c = reshape(x + c), where x is a product with weights, next to which the terms may become part of an
// operator: `c` has one for each column.
void AddTermOfReshapeRules(RuleSet& rules);

}  // namespace iropt
