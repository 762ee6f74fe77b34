// The type rules of the operator table: for a call whose operands have types, the type of the result. A rule whose
// operands do not fit reports a located error through the context and returns null.
#pragma once

#include <string_view>

#include "iropt/ir/relax/expr.h"

namespace iropt {

class InferContext;
struct OpInfo;

using TypeRule = const Type* (*)(const Call& call, InferContext& ctx);

// The rule of an operator: the column of ops.def, or what a plugin says. Null for intrinsics of TIR. O(1).
TypeRule TypeRuleOf(const OpInfo& op);

// A description of the result type, for docs/operators.md. Empty for intrinsics. O(1).
std::string_view ResultPhraseOf(const OpInfo& op);

// The head of a rule's definition: its name, and a description of the result type.
#define IROPT_TYPE_RULE(rule, phrase)                                                                                  \
  extern const char rule##Phrase[];                                                                                    \
  const char rule##Phrase[] = phrase;                                                                                  \
  const Type* rule([[maybe_unused]] const Call& call, [[maybe_unused]] InferContext& ctx)

}  // namespace iropt
