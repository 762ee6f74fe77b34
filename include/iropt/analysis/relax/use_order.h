// The order of bindings that is that of their uses, as the reader of Relay orders the nodes of a graph.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/support/lookup.h"

namespace iropt {

// From the result of the function back, the operands of a value come before it in their order, each as late as its
// first use allows.
class UseOrder {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // `num_vars` is that of the storage of the function. O(operands).
  UseOrder(const Function& function, uint32_t num_vars);

  // The place of a bound variable, that of a nested scope included; kNone if the result does not depend on it.
  uint32_t PlaceOf(const Var* var) const { return places_[var->id]; }
  // Returns whether the variable is bound to a function that refers to itself.
  bool IsRecursive(const Var* var) const { return recursive_.contains(var); }

 private:
  friend class UseOrderFinder;

  std::vector<uint32_t> places_;  // by Var::id
  LookupSet<const Var*> recursive_;
};

}  // namespace iropt
