// The reference graph of the functions of a module, in post-order.
#pragma once

#include <cstddef>
#include <vector>

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/ir/module.h"

namespace iropt {

struct CallGraph {
  // Indices of all functions in the module in post-order: a function comes after those that it refers to, except in
  // cycles.
  std::vector<size_t> post_order;
  std::vector<bool> recursive;  // by index: refers to itself, directly or through others
};

// O(nodes), at any depth.
CallGraph MakeCallGraph(const Module& module, CalledFunctionsSource called = ComputeCalledFunctions);

}  // namespace iropt
