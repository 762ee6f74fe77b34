// The variables that code refers to, in the order of their first occurrence.
#pragma once

#include <vector>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// Variables that are used in `e` and not defined there. Linear.
std::vector<const Var*> FreeVars(const Expr* e);
// The functions of the module that `e` refers to.
std::vector<const GlobalVar*> UsedGlobals(const Expr* e);

// Symbolic variables that occur in `e`, in shapes as well as in types, and that neither a parameter nor a match_cast of
// `e` defines.
std::vector<const tir::Var*> FreeSymVars(const Expr* e);
// Symbolic variables that parameters and match_casts of `e` define, nested functions included.
std::vector<const tir::Var*> BoundSymVars(const Expr* e);

// Symbolic variables that occur in a type; that occur in a scalar expression; and that a type defines as the type of a
// parameter or of a match_cast: those that are a whole dimension.
std::vector<const tir::Var*> SymVarsOf(const Type* type);
std::vector<const tir::Var*> SymVarsOf(const PrimExpr* e);
std::vector<const tir::Var*> DefinedSymVars(const Type* type);

}  // namespace iropt
