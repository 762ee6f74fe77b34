// Values of variables that an analyzer may look through.
#pragma once

#include "iropt/arith/analyzer.h"

namespace iropt::arith {

// Binds the variable to a pure value. Simplification replaces variables by their values, which double where each uses
// several others: of a value that is large when it is written so, only its bounds are known.
void BindValue(Analyzer& analyzer, const tir::Var* var, const PrimExpr* value);

}  // namespace iropt::arith
