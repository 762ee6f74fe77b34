// A-normal form, value by value: operands of calls, tuples and projections are leaves, or tuples of leaves.
// BlockBuilder brings whole expressions into this form; the reader does so value by value, while it binds them.
#pragma once

#include "iropt/ir/relax/rebuild.h"
#include "iropt/support/stack.h"

namespace iropt {

// Returns whether an operand is in A-normal form: a leaf (IsLeaf), or a tuple with a type whose fields are.
bool IsFlatOperand(const Expr* operand);
// Returns whether the operands of a call, a tuple or a projection are in A-normal form. True for every other
// expression, which has no operands.
bool HasFlatOperands(const Expr* value);

// A call, tuple or projection with f(operand) for each operand, the callee first. Null as soon as f gives null. The
// same pointer if nothing changes, or if the expression is of another kind.
template <class F>
const Expr* MapOperands(const Expr* value, Rebuilder& rebuilder, F&& f) {
  bool failed = false;
  const auto map = [&](const Expr* operand) -> const Expr* {
    const Expr* mapped = failed ? nullptr : f(operand);
    failed |= mapped == nullptr;
    return mapped;
  };
  if (const auto* call = As<Call>(value)) {
    const Expr* op = map(call->op);
    const List<const Expr*> args = MapList(call->args, rebuilder.workspace(), map);
    return failed ? nullptr : rebuilder.Rebuild(*call, op, args);
  }
  if (const auto* tuple = As<Tuple>(value)) {
    const List<const Expr*> fields = MapList(tuple->fields, rebuilder.workspace(), map);
    return failed ? nullptr : rebuilder.Rebuild(*tuple, fields);
  }
  if (const auto* item = As<TupleGetItem>(value)) {
    const Expr* tuple = map(item->tuple);
    return failed ? nullptr : rebuilder.Rebuild(*item, tuple);
  }
  return value;
}

}  // namespace iropt
