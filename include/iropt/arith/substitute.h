// Replacing variables in scalar expressions.
#pragma once

#include "iropt/arith/prim_builder.h"
#include "iropt/support/function_ref.h"

namespace iropt::arith {

// The expression with its variables replaced; the same node where none changes. The operations stay as they are;
// Simplify afterwards where folding is wanted. Variables that the expression itself binds are left alone.
const PrimExpr* MapVars(const PrimExpr* e, FunctionRef<const PrimExpr*(const tir::Var*)> map,
                        const PrimBuilder& make = {});

// Calls `f` for every variable that occurs, in order of occurrence; repeated ones repeatedly.
void ForEachVar(const PrimExpr* e, FunctionRef<void(const tir::Var*)> f);

}  // namespace iropt::arith
