// Which functions of a module refer to which, in an order to work on them.
#pragma once

#include <cstddef>
#include <vector>

#include "iropt/ir/module.h"

namespace iropt {

struct CallGraph {
  // Indices of all functions in the module: they come after those that they refer to, except where these refer back.
  std::vector<size_t> callees_first;
  std::vector<bool> recursive;  // by index: refers to itself, directly or through others
};

// O(nodes), at any depth.
CallGraph MakeCallGraph(const Module& module);

}  // namespace iropt
