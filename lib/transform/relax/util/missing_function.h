// The message about a function that an option names and the module does not have.
#pragma once

#include <string>
#include <string_view>

#include "iropt/ir/module.h"

namespace iropt {

// "the module has no Relax function 'mian'; did you mean 'main'?", or else the functions that it has. O(functions).
std::string DescribeMissingFunction(const Module& module, std::string_view name);

}  // namespace iropt
