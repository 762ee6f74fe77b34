// Finds the bindings of a function that depend only on weights and can be hoisted out of it.
#pragma once

#include <unordered_set>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// The variables that an expression refers to, each once, in order.
struct Operands {
  std::vector<const Var*> vars;
  std::vector<const tir::Var*> dims;  // symbolic variables, those in the types of the variables included
};
Operands OperandsOf(const Expr* e);

// The bindings of dataflow blocks that can be lifted: those whose operands are weights or can be lifted, too. `take` is
// called for each, in order, and decides whether it is lifted. With `dims`, this includes bindings that depend on
// symbolic variables which the types of weights define; otherwise the types of lifted values have none. Results of
// stop_lift_params are not lifted. O(nodes).
void FindLiftable(const Function& function, uint32_t num_inputs, bool dims,
                  FunctionRef<bool(const Binding&, const Operands&)> take);

struct LiftPlan {
  std::vector<const Binding*> lifted;
  std::vector<bool> needs_weights;  // by Var::id: weights, and lifted values that depend on weights
  std::vector<bool> at_runtime;     // by Var::id: used by the rest of the function
  std::vector<const tir::Var*> dims_at_runtime;
};

// `accepts` may reject bindings that could be lifted.
LiftPlan PlanLift(const Function& function, uint32_t num_inputs, size_t num_vars,
                  FunctionRef<bool(const Binding&)> accepts);

}  // namespace iropt
