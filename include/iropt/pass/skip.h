// Functions that passes over functions skip.
#pragma once

#include <string_view>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// The attribute because of which passes skip the function; empty if there is none.
std::string_view SkipsOptimization(const Function& function);

}  // namespace iropt
