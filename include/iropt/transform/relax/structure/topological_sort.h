// Sorts the bindings of dataflow blocks topologically.
#pragma once

#include "iropt/ir/module.h"

namespace iropt {

struct TopologicalSortOptions {
  bool depth_first = true;    // otherwise breadth-first
  bool from_outputs = false;  // otherwise from the inputs
};

// The function with its dataflow blocks in the order of the traversal; the same pointer if nothing changes.
const Function* TopologicalSort(const Function* function, Workspace& workspace, TopologicalSortOptions options = {});

}  // namespace iropt
