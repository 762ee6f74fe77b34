// The type rules of the operator table: for a call whose operands have types, the type of the result. A rule whose
// operands do not fit reports a located error through the context and returns null.
#pragma once

#include <string_view>

#include "iropt/ir/expr.h"

namespace iropt {

class InferContext;

#define IROPT_TYPE_RULE(Name, phrase) const Type* Name(const Call& call, InferContext& ctx);
#include "iropt/op/type_rules.def"

// What the rule says of the result's type, for people.
std::string_view TypeRulePhrase(const Type* (*rule)(const Call&, InferContext&));

}  // namespace iropt
