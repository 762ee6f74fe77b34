// What the symbolic variables of a function stand for in a call of it.
#pragma once

#include <span>

#include "iropt/ir/substitute.h"

namespace iropt {

// The values that the types of the arguments give to the variables that the types of the parameters define: a variable
// takes the first dimension in whose place it stands alone. Those in whose place nothing is known are left out.
// There are as many arguments as parameters. O(size of the types).
SymVarMap BindSymVars(std::span<const Type* const> params, std::span<const Type* const> args);

}  // namespace iropt
