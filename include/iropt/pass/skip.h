// Functions that passes over functions leave alone.
#pragma once

#include <string_view>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// The attribute because of which passes leave the function alone; empty where there is none.
std::string_view SkipsOptimization(const Function& function);

}  // namespace iropt
