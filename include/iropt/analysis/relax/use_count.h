// The number of uses of each variable of a function.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/ir/module.h"

namespace iropt {

// By Var::id. Every occurrence as an operand counts, those in nested functions included, and every type that refers to
// the variable as a shape. Linear.
std::vector<uint32_t> UseCounts(const Function& function, uint32_t num_vars);
inline std::vector<uint32_t> UseCounts(const Function& function, const FuncStorage& storage) {
  return UseCounts(function, storage.num_vars);
}

}  // namespace iropt
