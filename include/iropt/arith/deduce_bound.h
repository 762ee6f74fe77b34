// The values of a variable for which a comparison holds.
//
//   // j in [0, 3]: i * 4 + j < n holds for i in [-inf, floordiv(n - 4, 4)]
//   arith::IntervalSet set = arith::DeduceBound(i, condition, hints, relax, analyzer);
//
// Made after TVM's arith::DeduceBound (src/arith/bound_deducer.cc).
#pragma once

#include "iropt/arith/analyzer.h"
#include "iropt/arith/int_set.h"
#include "iropt/ir/tir/expr.h"

namespace iropt::arith {

// An interval of values of `var` for which `condition` holds, whatever values the variables in `relax` have in their
// sets; nothing if none is found. The condition is a comparison of signed integers in which the variable occurs once;
// `hints` are the sets of any variables, which tell the signs of factors. The ends are simplified and do not depend on
// the variables in `relax`. O(nodes), apart from the simplification.
IntervalSet DeduceBound(const tir::Var* var, const PrimExpr* condition, const VarDomains& hints,
                        const VarDomains& relax, Analyzer& analyzer);

}  // namespace iropt::arith
