// Which bindings of a function depend on nothing but weights, and so can be computed before it runs.
#pragma once

#include <unordered_set>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// What an expression refers to, each once, in order.
struct Operands {
  std::vector<const Var*> vars;
  std::vector<const tir::Var*> dims;  // symbolic variables, those in the types of the variables included
};
Operands OperandsOf(const Expr* e);

// The bindings of dataflow blocks that can be lifted: those whose operands are weights or can be lifted, too. `take` is
// told of each, in order, and says whether it is. With `dims`, so may those be that depend on symbolic variables which
// the types of weights define; otherwise the types of what is lifted have none. What stop_lift_params gives is not
// lifted. O(nodes).
void FindLiftable(const Function& function, uint32_t num_inputs, bool dims,
                  FunctionRef<bool(const Binding&, const Operands&)> take);

struct LiftPlan {
  std::vector<const Binding*> lifted;
  std::vector<bool> needs_weights;  // by Var::id: weights, and what is lifted and depends on any
  std::vector<bool> at_runtime;     // by Var::id: what the rest of the function uses
  std::vector<const tir::Var*> dims_at_runtime;
};

// `accepts` may leave out bindings that could be lifted.
LiftPlan PlanLift(const Function& function, uint32_t num_inputs, size_t num_vars,
                  FunctionRef<bool(const Binding&)> accepts);

}  // namespace iropt
