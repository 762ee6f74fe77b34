// The operators of Relax that the writer of Relay text has a form for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/relax/expr.h"

namespace iropt::relay {

// A call as it is written: the operator, its operands, and ", name=value" for each attribute.
struct WrittenCall {
  std::string_view name;
  std::vector<const Expr*> operands;
  std::string attributes;
};

// Nothing if Relay has no operator that does the same. Reading the result back gives the same call.
std::optional<WrittenCall> WriteOperator(const Call& call);

}  // namespace iropt::relay
