// The values of a function's symbolic variables in a call of the function.
#pragma once

#include <span>

#include "iropt/ir/substitute.h"

namespace iropt {

// The values that the types of the arguments give to the variables that the types of the parameters define: a variable
// takes the first dimension at a position where it stands alone. Variables without a known dimension are left out.
// There are as many arguments as parameters. O(size of the types).
SymVarMap BindSymVars(std::span<const Type* const> params, std::span<const Type* const> args);

}  // namespace iropt
