// Facts about the operands of matrix products, for the passes that reorder them.
#pragma once

#include <vector>

#include "iropt/ir/relax/pattern.h"

namespace iropt {

// The variables that can be computed before the runtime inputs are there, if the function has the attribute num_input:
// the other parameters, and what earlier blocks compute from them. As in TVM 0.18, values of the same block do not
// count.
class CompileTimeVars {
 public:
  explicit CompileTimeVars(const Function& function);
  // Returns whether an operand that a pattern matched is such a variable.
  bool Contains(const Expr* operand, const Match& match) const;

 private:
  std::vector<bool> known_;  // by Var::id
};

// Returns whether a matmul has the dtype of its operands, so that another order of products keeps the dtype.
bool AccumulatesInOwnDtype(const Call& matmul);

}  // namespace iropt
