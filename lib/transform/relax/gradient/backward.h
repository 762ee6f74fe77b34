// The backward part of reverse-mode differentiation.
#pragma once

#include <vector>

#include "checkpoints.h"
#include "prim_func_gradient.h"

namespace iropt {

// Visits the bindings of a dataflow block from the last to the first and emits the adjoint of each variable that the
// target depends on: the gradient of the target with respect to the variable. O(nodes), and
// the number of fields for each projection of a tuple.
class BackwardPass {
 public:
  BackwardPass(const Function& function, const Checkpoints& checkpoints, const Module& module, GradBuilder& builder);

  // Emits the adjoints of all bindings. Errors are reported; see GradBuilder::failed.
  void Run(const Var* target);
  // Emits the adjoint of a variable as an output of the block.
  const Var* EmitOutput(const Var* var);

 private:
  void VisitBinding(const VarBinding& binding);
  void VisitCall(const VarBinding& binding, const Call& call, const Var* adjoint);
  void VisitCallTirWithGrad(const Call& call, const Call& computed, const Var* adjoint);
  void VisitItem(const TupleGetItem& item, const Var* adjoint);

  // Adds `partial` to the adjoints of the variables in an operand.
  void Update(const Expr* operand, const Expr* partial);
  void UpdateLeaves(const Expr* operand, const Expr* partial);
  // The sum of two values of one type; of tuples, field by field.
  const Expr* Sum(const Expr* a, const Expr* b);
  // The tuple with one field added to.
  const Expr* AddToField(const Expr* tuple, uint32_t index, const Expr* increment);
  void EmitAdjoint(const Var* var, const Expr* value);

  const Checkpoints& checkpoints_;
  const Module& module_;
  GradBuilder& builder_;
  Recomputation recomputation_;
  VarMap<Var> adjoints_;
};

}  // namespace iropt
