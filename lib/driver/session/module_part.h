// A module without the functions that some of its functions do not need.
#pragma once

#include <vector>

#include "iropt/ir/module.h"

namespace iropt {

// The functions `roots` with those that they refer to, directly or not. O(size of the part).
Module PartOf(const Module& module, std::vector<const GlobalVar*> roots);

}  // namespace iropt
