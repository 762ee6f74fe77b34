// Expressions that are linear in some variables.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "iropt/arith/analyzer.h"

namespace iropt::arith {

// The coefficients of the variables in e == c[0] * v[0] + ... + c[n]; nothing if e is not linear in them. The
// coefficients are simplified, and may have other variables. O(nodes * variables).
std::optional<std::vector<const PrimExpr*>> DetectLinearEquation(const PrimExpr* e,
                                                                 std::span<const tir::Var* const> variables,
                                                                 Analyzer& analyzer);

}  // namespace iropt::arith
