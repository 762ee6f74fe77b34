// Conjunctive normal form of conditions.
#pragma once

#include "iropt/arith/analyzer.h"

namespace iropt::arith {

// The condition as a conjunction of disjunctions, in which no pair of terms can be simplified together. A condition
// that would become too big stays.
const PrimExpr* SimplifyAsAndOfOrs(const PrimExpr* condition, Analyzer& analyzer);

}  // namespace iropt::arith
