// The operators of Relax that the writer of Relay text has a form for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/function_ref.h"

namespace iropt::relay {

// A call as it is written: the operator, its operands, and ", name=value" for each attribute. Operands that are scalars
// in Relax are the first of these, without names.
struct WrittenCall {
  std::string_view name;
  std::vector<const Expr*> operands;
  std::string attributes;
  bool takes_tuple = false;  // the operands are the fields of the only one
};

// The value that a variable is bound to, or null.
using BoundValue = FunctionRef<const Expr*(const Expr* var)>;

// Nothing if Relay has no operator that does the same. Reading the result back gives the same call. Operands that are
// attributes in Relax are made in the workspace.
std::optional<WrittenCall> WriteOperator(const Call& call, BoundValue bound, Workspace& workspace);

// Returns whether a call is written where its result is used: Relay has no operator that does the same, but one for it
// together with the call that uses it, such as an argmax of int32.
bool IsWrittenByUser(const Call& call, BoundValue bound);

}  // namespace iropt::relay
