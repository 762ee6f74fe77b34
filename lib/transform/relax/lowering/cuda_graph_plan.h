// The parts that RewriteCUDAGraph moves out of a function: its static storage, and the regions that can be captured.
#pragma once

#include <memory>
#include <unordered_set>
#include <vector>

#include "iropt/ir/module.h"

namespace iropt {

// Items in the order in which they were first added.
template <class T>
class OrderedSet {
 public:
  void Add(const T* item) {
    if (seen_.insert(item).second) items_.push_back(item);
  }
  const std::vector<const T*>& items() const { return items_; }

 private:
  std::unordered_set<const T*> seen_;
  std::vector<const T*> items_;
};

// Bindings that become the body of a function. Bindings between them that stay do not depend on them.
struct GraphRegion {
  std::vector<const VarBinding*> bindings;
  OrderedSet<Var> inputs;         // used in the region and bound outside
  OrderedSet<Var> outputs;        // bound in the region and used outside
  OrderedSet<tir::Var> sym_vars;  // symbolic variables that the region uses
};

struct GraphPlan {
  GraphRegion storage;  // allocations of storage, without inputs
  std::vector<std::unique_ptr<GraphRegion>> captures;
};

// A value is static if its address, shape and contents depend only on static storage, on weights (parameters beyond the
// attribute num_input) and on symbolic variables that are constant for a captured graph: those of weights, and those
// named in relax.rewrite_cuda_graph.capture_symbolic_vars. A region is a sequence of bindings of static values in one
// block that begins with the launch of a kernel. O(nodes).
GraphPlan PlanCudaGraph(const Module& module, const ModuleEntry& function);

}  // namespace iropt
