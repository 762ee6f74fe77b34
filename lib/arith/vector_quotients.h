// Quotients and remainders of ramps by constants.
#pragma once

#include "iropt/arith/analyzer.h"

namespace iropt::arith {

// ramp(base, stride, lanes) divided by, or modulo, bcast(divisor, lanes), if all lanes have one quotient, or if the
// base leaves the same remainder for all values of its variables. Null if the rules do not apply. O(base).
const PrimExpr* SimplifyVectorQuotient(const tir::BinaryExpr* e, Analyzer& analyzer);

}  // namespace iropt::arith
