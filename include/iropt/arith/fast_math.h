// Approximations of functions by arithmetic, for processors that do not compute them.
#pragma once

#include "iropt/arith/prim_builder.h"

namespace iropt::arith {

// erf(x) as a quotient of polynomials between -4 and 4, with an error of a few units of float32. x is of dtype float16
// or float32, with any number of lanes. TVM's fast_erf_float_expr (src/tir/op/op.cc); the coefficients are those of
// Eigen.
const PrimExpr* FastErf(const PrimExpr* x, const PrimBuilder& make);

}  // namespace iropt::arith
