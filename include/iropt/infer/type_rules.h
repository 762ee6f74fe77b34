// The type rules of the operator table: for a call whose operands have types, the type of the result. A rule whose
// operands do not fit reports a located error through the context and returns null.
#pragma once

#include <string_view>

#include "iropt/ir/relax/expr.h"

namespace iropt {

class InferContext;
struct OpInfo;

#define IROPT_TYPE_RULE(Name, phrase) const Type* Name(const Call& call, InferContext& ctx);
#include "iropt/infer/type_rules.def"

// Infers the result type of a call whose operands have types. Reports an error through the context and returns null
// where the operands do not fit.
using TypeRule = const Type* (*)(const Call& call, InferContext& ctx);

// The rule of an operator: the column of ops.def. Null for intrinsics of the loop level. O(1).
TypeRule TypeRuleOf(const OpInfo& op);

// What the rule says of the result's type, for people.
std::string_view TypeRulePhrase(TypeRule rule);

}  // namespace iropt
