// Relay's nn.bias_add, as its reader writes it in Relax.
#pragma once

#include <unordered_set>

#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"

namespace iropt {

// Finds the sums that are Relay's nn.bias_add: the reader of Relay turns it into an addition of a vector that has got
// axes after its own. The sums of batch norms, after a product with such a vector, are sums in Relay, too. Add the
// bindings in program order.
class BiasTable {
 public:
  void Add(const Var& var, const Call& call) {
    if (IsColumn(call)) columns_.insert(&var);
    if (Calls(call, op::kMultiply) && columns_.contains(call.args[1])) scaled_.insert(&var);
  }
  bool IsBias(const Call& call) const {
    return Calls(call, op::kAdd) && columns_.contains(call.args[1]) && !scaled_.contains(call.args[0]);
  }

 private:
  static bool Calls(const Call& call, OpId id) {
    const auto* op = As<Op>(call.op);
    return op && op->id == id;
  }
  static bool IsColumn(const Call& call) {
    if (!Calls(call, op::kExpandDims)) return false;
    const auto* vector = As<TensorType>(call.args[0]->type);
    const IntList axes = ExpandDimsAttrs(call).axis();
    return vector && vector->ndim == 1 && !axes.empty() && axes[0] == 1;
  }

  std::unordered_set<const Expr*> columns_;
  std::unordered_set<const Expr*> scaled_;
};

}  // namespace iropt
