// Answers most queries in which nobody meets anybody, without trying values.
#pragma once

#include "analysis/tir/races/query.h"

namespace iropt::races {

// Returns whether the equations between the elements leave no solution. They are divided into those of digits: of
// 64 * a + b, where b is from 0 to 63, both a and b are equal. Then the actors are equal too, or an equation has no
// solution by the range or the common divisor of its terms. O(terms^2), sizes may be symbolic.
bool HasNoSolution(const Query& query, Workspace& workspace);

}  // namespace iropt::races
